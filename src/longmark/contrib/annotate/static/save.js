// Saves while the form is filled in. "Saved" is shown only after the server has said so. What it has not, is kept on this
// device and sent again: after 1, 2, 4, … 30 seconds, when the connection is back, and when the page is opened again.
const form = document.getElementById("labels");
const state = document.getElementById("state");
const version = form.elements.version;
const place = `longmark ${form.dataset.person} ${form.getAttribute("action")}`;
const WAIT = 500, LONGEST = 30_000;
let changes = 0, saved = 0, count = 0, delay = 1000, timer = 0, running = null, leaving = false, stopped = false;

const entries = () => [...new FormData(form)].filter(([name, value]) => name.startsWith("f.") && value !== "");
const clock = (at) => new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });

function show(text, kind) {
  if (state.textContent !== text) state.textContent = text;
  state.dataset.kind = kind;
}
function keep() {
  try { localStorage.setItem(place, JSON.stringify({ version: version.value, form: entries() })); } catch { /* no room: the server alone */ }
}
function forget() {
  try { localStorage.removeItem(place); } catch { /* nothing was kept */ }
}
function later(wait, act = save) {
  clearTimeout(timer);
  timer = setTimeout(act, wait);
}
function changed() {
  changes += 1;
  keep();
  if (stopped) return;
  show(say("Not saved yet"), "waiting");
  later(WAIT);
}

// Resolves to whether everything on the page is saved.
function save() {
  clearTimeout(timer);
  running ??= send().finally(() => (running = null));
  return running;
}
function body() {
  const posted = new URLSearchParams(new FormData(form));
  posted.set("count", String((count += 1)));
  return posted;
}
async function send(force = false) {
  const upTo = changes;
  const posted = body();
  if (force) posted.set("force", "1");
  let reply, answer;
  try {
    reply = await fetch(`${form.getAttribute("action")}/draft`, { method: "POST", body: posted, headers: { accept: "application/json" }, redirect: "manual" });
    answer = await reply.json().catch(() => ({}));
  } catch {
    return again(say("Not saved yet – no connection. Retrying; your labels are kept on this device."));
  }
  if (answer.saved) return done(answer, upTo);
  if (reply.status === 409 && answer.stale) return stale(answer, upTo);
  if (answer.errors) {
    version.value = answer.version;
    show(say("Saved, but not: {}", Object.keys(answer.errors).map((name) => `${labelOf(`f.${name}`)} (${answer.errors[name]})`).join("; ")), "problem");
    saved = upTo;
    if (changes > upTo) later(WAIT);
    return true;
  }
  if (reply.status === 401) return stop(say("Not saved: you are signed out. Open your link again; your labels are kept on this device."));
  if (answer.paused) return again(say("Not saved yet – the study is paused. Your labels are kept on this device."));
  if (reply.status >= 500 || reply.status === 429) return again(say("Not saved yet – the server does not answer. Retrying; your labels are kept on this device."));
  return stop(say("Not saved: the server refused ({}). Reload the page; your labels are kept on this device.", reply.status || "moved"));
}
function done(answer, upTo) {
  version.value = answer.version;
  saved = upTo;
  delay = 1000;
  stopped = false;
  if (changes > upTo) return keep(), later(WAIT), false;
  forget();
  show(say("Saved {}", clock(answer.at)), "saved");
  return true;
}
function again(text) {
  show(text, "waiting");
  later(delay);
  delay = Math.min(delay * 2, LONGEST);
  return false;
}
function stop(text) {
  stopped = true;
  show(text, "problem");
  return false;
}
window.addEventListener("online", () => changes > saved && later(0));
document.addEventListener("visibilitychange", () => document.visibilityState === "hidden" && changes > saved && later(0));

// Two versions: this page's, and one that another tab or device has saved.
const labelOf = (name) => form.querySelector(`[data-field="${CSS.escape(name)}"]`)?.dataset.label ?? name.slice(2);
const grouped = (pairs) => pairs.reduce((all, [name, value]) => all.set(name, [...(all.get(name) ?? []), value]), new Map());
function stale(answer, upTo) {
  if (!answer.differ.length) return done(answer, upTo);
  stop(say("Not saved: this item was saved elsewhere. Choose one of the two versions above."));
  document.getElementById("stale")?.remove();
  const notice = Object.assign(document.createElement("div"), { id: "stale", className: "notice stale", tabIndex: -1 });
  notice.setAttribute("role", "alert");
  const add = (parent, tag, text) => parent.appendChild(Object.assign(document.createElement(tag), { textContent: text ?? "", dir: "auto" }));
  add(notice, "p", say("This item was saved at {} in another tab or on another device. These labels differ.", clock(answer.at)));
  const table = add(notice, "table");
  const row = (kind, cells) => { const line = add(table, "tr"); for (const one of cells) add(line, kind, one); };
  row("th", [say("Field"), say("On this page"), say("Saved elsewhere")]);
  for (const [label, here, there] of answer.differ) row("td", [label, here || "–", there || "–"]);
  const choice = (text, act) => add(notice, "button", text).addEventListener("click", act);
  choice(say("Keep the labels on this page"), async () => {
    notice.remove();
    stopped = false;
    await send(true);
  });
  choice(say("Take the saved version"), () => { forget(); leaving = true; location.reload(); });
  form.before(notice);
  notice.focus();
  return false;
}

// The button is a form post of its own: it goes once what is on the page is saved, and once only.
let waiting = false;
form.addEventListener("submit", async (event) => {
  if (leaving || (changes <= saved && !stopped)) return leave();
  event.preventDefault();
  if (waiting) return;
  if (stopped) return document.getElementById("stale")?.focus();
  waiting = true;
  const button = event.submitter ?? document.getElementById("submit");
  await new Promise((go) => setTimeout(go)); // a form cannot be submitted while its submit event is handled
  while (changes > saved && !stopped) if (!(await save()) && changes > saved) await new Promise((go) => setTimeout(go, Math.min(delay, 2000)));
  waiting = false;
  if (stopped) return;
  leave();
  form.requestSubmit(button);
});
function leave() {
  if (!leaving) form.dispatchEvent(new Event("leaving"));
  leaving = true;
}
// The page came back by the back button as it was left: it may be used again.
window.addEventListener("pageshow", ({ persisted }) => persisted && location.reload());
window.addEventListener("pagehide", () => {
  if (!leaving && changes > saved && !stopped) navigator.sendBeacon(`${form.getAttribute("action")}/draft`, body());
});

form.addEventListener("input", ({ target }) => target.name?.startsWith("f.") && changed());
form.addEventListener("change", ({ target }) => target.name?.startsWith("f.") && changed());

// What an earlier view of this page could not save.
function restore() {
  let kept = null;
  try { kept = JSON.parse(localStorage.getItem(place)); } catch { /* not ours */ }
  if (!Array.isArray(kept?.form)) return;
  const values = grouped(kept.form);
  for (const name of values.keys()) {
    for (let tries = 0; !form.elements[name] && tries < 100; tries += 1) {
      const more = [...form.querySelectorAll(".more-rows")].find((one) => name.startsWith(`${one.closest(".field").dataset.field}.`));
      if (!more) break;
      more.click();
    }
  }
  for (const one of form.elements) {
    if (!one.name?.startsWith("f.")) continue;
    const given = values.get(one.name) ?? [];
    if (one.type === "radio" || one.type === "checkbox") one.checked = given.includes(one.value);
    else if (given.length || !one.name.endsWith(".text")) one.value = given[0] ?? "";
  }
  version.value = kept.version;
  form.dispatchEvent(new Event("restored"));
  changed();
  document.activeElement?.blur();
}
restore();
// What was filled in before this script ran told it of no change.
const early = ({ name, checked, defaultChecked, value, defaultValue }) => name?.startsWith("f.") && (checked !== defaultChecked || (defaultValue !== undefined && value !== defaultValue));
if (changes === 0 && [...form.elements].some(early)) changed();
