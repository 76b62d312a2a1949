// While a run goes on, or is still being read: the parts of the page that change, again every few seconds. What has the
// focus, and the list of answers, stay as they are.
const EVERY = 3000;

async function renew() {
  if (document.visibilityState === "visible") {
    try {
      const reply = await fetch(location.href);
      const fresh = new DOMParser().parseFromString(await reply.text(), "text/html");
      for (const part of document.querySelectorAll("[data-part]")) {
        const now = reply.ok && fresh.getElementById(part.id);
        if (now && now.innerHTML !== part.innerHTML && !part.contains(document.activeElement)) part.innerHTML = now.innerHTML;
      }
      if (reply.ok && !fresh.body.dataset.live) return;
    } catch { /* the server was stopped; it may come back */ }
  }
  setTimeout(renew, EVERY);
}

if (document.body.dataset.live) setTimeout(renew, EVERY);
