// Seconds for which the page was visible and in use, of this view of it. The same view is reported again and again with
// all its seconds so far, so that a report that comes twice counts once.
const form = document.getElementById("labels");
const [EVERY, IDLE] = [30_000, 300_000];
const started = new Date().toISOString();
const view = `${form.elements.once.value}-${Date.now().toString(36)}`;
let seconds = 0, since = document.visibilityState === "visible" ? performance.now() : null, active = performance.now(), sent = 0;

function count() {
  if (since === null) return;
  const now = performance.now();
  seconds += Math.max(0, Math.min(now, active + IDLE) - since) / 1000; // after five minutes without a hand on it the clock stands
  since = now;
}
function report() {
  count();
  if (seconds - sent < 0.5) return;
  sent = seconds;
  const body = new URLSearchParams({ token: form.elements.token.value, visit: view, seconds: seconds.toFixed(1), started });
  navigator.sendBeacon(`${form.getAttribute("action")}/visit`, body);
}
for (const kind of ["pointermove", "pointerdown", "keydown", "scroll", "touchstart"])
  document.addEventListener(kind, () => { count(); active = performance.now(); }, { passive: true, capture: true });
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "hidden") { report(); since = null; } else since = active = performance.now();
});
form.addEventListener("leaving", report);
window.addEventListener("pagehide", report);
setInterval(report, EVERY);
