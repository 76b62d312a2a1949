// The form while it is used: single keys, fields that depend on others, an exclusive option, further key points.
// Without this module the form is posted all the same.
const form = document.getElementById("labels");
const words = JSON.parse(form.dataset.words || "{}");
// In the language of the study, with values in place of {}.
globalThis.say = (text, ...values) => (words[text] ?? text).replace(/\{\}/g, () => values.shift());
const typing = (at) => at.matches("textarea, select, input:not([type=radio], [type=checkbox])") || at.isContentEditable;
const groupOf = (at) => at?.closest("#labels [data-field]") ?? null;
const controls = () => [...form.querySelectorAll("input:not([type=hidden]), textarea, .tag")].filter((one) => groupOf(one) && !one.disabled && one.checkVisibility());
const groups = () => [...new Set(controls().map(groupOf))];
const inGroup = (group) => controls().filter((one) => groupOf(one) === group);
const answered = (group) => inGroup(group).some((one) => one.checked || (typing(one) && one.value.trim()));

document.documentElement.classList.add("scripted");
for (const one of document.querySelectorAll(".needs-script")) one.hidden = false;
for (const one of document.querySelectorAll("#errors")) one.focus();

// A hidden field is not posted; what was in it stays on the page.
function conditions() {
  const given = new FormData(form);
  const show = (part, shown) => {
    part.hidden = !shown;
    for (const one of part.querySelectorAll("input, textarea")) one.disabled = !shown || (one.type === "hidden" && !part.querySelector(".ready"));
  };
  for (const field of form.querySelectorAll("[data-when]")) {
    show(field, given.getAll(field.dataset.when).some((value) => field.dataset.is.split("\u001f").includes(value)));
    if (!field.hidden) continue;
    for (const one of field.querySelectorAll("input, textarea")) given.delete(one.name);
  }
  for (const edit of form.querySelectorAll(".field-edit:not([hidden])")) {
    const verdict = given.get(`${edit.dataset.field}.verdict`);
    show(edit.querySelector(".if-edit"), verdict === "edit");
    show(edit.querySelector(".if-reject"), verdict === "reject");
  }
}

form.addEventListener("change", ({ target }) => {
  const none = target.closest("[data-none]")?.dataset.none;
  if (none !== undefined && target.checked)
    for (const one of target.closest("[data-none]").querySelectorAll("input"))
      if (one !== target && (target.value === none || one.value === none)) one.checked = false;
  conditions();
});
form.addEventListener("restored", conditions);

// A word in a text without spaces: what is selected is typed, with its place; a word that is chosen takes its place.
for (const typed of form.querySelectorAll(".field-cloze input[type=text]")) {
  const field = typed.closest(".field-cloze"), text = field.querySelector(".cloze"), place = field.querySelector(".selected");
  const words = [...field.querySelectorAll("input[type=radio]")];
  typed.addEventListener("input", () => {
    place.value = "";
    for (const one of words) one.checked = false;
  });
  for (const one of words) one.addEventListener("change", () => (typed.value = place.value = ""));
  text.addEventListener("pointerup", () => setTimeout(() => {
    const selection = document.getSelection(), quote = String(selection).trim();
    if (!quote || !text.contains(selection.anchorNode) || !text.contains(selection.focusNode)) return;
    const before = selection.getRangeAt(0).cloneRange();
    before.setStart(text, 0);
    const start = [...String(before).trimEnd()].length - [...quote].length;
    typed.value = quote;
    typed.dispatchEvent(new Event("input", { bubbles: true }));
    place.value = JSON.stringify({ start, end: start + [...quote].length, quote });
  }));
}

// Another key point: the last row once more, with the next number.
for (const more of form.querySelectorAll(".more-rows"))
  more.addEventListener("click", () => {
    const rows = more.closest(".field").querySelectorAll(".row");
    const last = rows[rows.length - 1];
    const row = last.cloneNode(true);
    const [before, now] = [rows.length - 1, rows.length];
    const { id, dataset } = more.closest(".field");
    for (const one of [row, ...row.querySelectorAll("*")]) {
      for (const name of ["id", "for"]) if (one.hasAttribute(name)) one.setAttribute(name, one.getAttribute(name).replace(`${id}-${before}-`, `${id}-${now}-`));
      for (const name of ["name", "data-field"]) if (one.hasAttribute(name)) one.setAttribute(name, one.getAttribute(name).replace(`${dataset.field}.${before}.`, `${dataset.field}.${now}.`));
      if (one.matches("input")) one.checked = false;
      if (one.matches("textarea")) one.value = one.textContent = "";
      if (one.matches(".point") && one.tagName === "LABEL") one.textContent = say("Key point {}", now + 1);
    }
    last.after(row);
    row.querySelector("textarea").focus();
  });

// Keys act in the field that has the focus, or in the first one without an answer; the study's own keys act everywhere.
let last = null;
form.addEventListener("focusin", ({ target }) => (last = groupOf(target) ?? last));
function current() {
  const selection = document.getSelection();
  const text = selection.isCollapsed ? null : selection.anchorNode?.parentElement?.closest("[data-text]");
  const marks = text && form.querySelector(`[data-over="${CSS.escape(text.dataset.text)}"]`);
  const all = groups();
  return groupOf(marks) ?? groupOf(document.activeElement) ?? (all.includes(last) ? last : null) ?? all.find((one) => !answered(one)) ?? all[0];
}
function go(group, step) {
  const all = groups();
  const next = all[all.indexOf(group) + step];
  const target = next ? inGroup(next).find((one) => one.checked) ?? inGroup(next)[0] : step >= 0 ? document.getElementById("submit") : null;
  target?.focus({ focusVisible: true });
}
function choose(key) {
  const group = current();
  const fits = controls().filter((one) => one.dataset.key === key);
  const everywhere = fits.filter((one) => "everywhere" in one.dataset);
  const target = fits.find((one) => groupOf(one) === group) ?? everywhere.find((one) => !answered(groupOf(one))) ?? everywhere[0];
  if (!target) return false;
  target.click();
  if (target.type === "radio") go(groupOf(target), 1);
  else if (target.type === "checkbox") target.focus({ focusVisible: true });
  return true;
}

// Sources stand in a row of tabs, one open at a time; which one is remembered on this device.
const sources = [...document.querySelectorAll(".sources details")];
const wide = matchMedia("(min-width: 56rem)").matches;
const PANEL = "longmark source";
try {
  const kept = localStorage.getItem(PANEL);
  const first = wide ? sources.find((one) => kept === null || one.id === kept) : null;
  if (first) first.open = true;
} catch { /* closed at first */ }
for (const one of sources)
  one.addEventListener("toggle", () => {
    try { if (wide) localStorage.setItem(PANEL, sources.find((other) => other.open)?.id ?? ""); } catch { /* for this page only */ }
  });
function nextSource() {
  const at = sources.findIndex((one) => one.open);
  if (at >= 0) sources[at].open = false;
  const next = sources[at + 1];
  if (next) next.open = true;
}

// One tap from anywhere to the first field without an answer, and back to where the text was read.
const jump = document.getElementById("jump");
let readAt = null;
const open = () => groups().find((one) => !answered(one) && !one.querySelector(".optional") && !one.closest(".field")?.querySelector("legend .optional"));
const inView = (one) => one && one.getBoundingClientRect().top < innerHeight - 120 && one.getBoundingClientRect().bottom > 0;
function label() {
  if (!jump) return;
  const next = open();
  jump.hidden = !next && readAt === null;
  const back = readAt !== null && (!next || inView(next));
  jump.dataset.back = back ? "yes" : "";
  jump.firstElementChild.textContent = back ? say("Back to the text") : say("Next: {}", next?.dataset.label ?? "");
}
jump?.addEventListener("click", (event) => {
  event.preventDefault();
  const next = open();
  if (jump.dataset.back) {
    scrollTo(0, readAt);
    readAt = null;
  } else if (next) {
    readAt ??= scrollY;
    next.scrollIntoView({ block: next.offsetHeight > innerHeight / 2 ? "start" : "center" });
    inGroup(next)[0]?.focus({ preventScroll: true });
  }
  label();
});
addEventListener("scroll", () => requestAnimationFrame(label), { passive: true });
form.addEventListener("input", label);
form.addEventListener("restored", label);

// What is wrong with a field is not said any more once it is changed.
form.addEventListener("input", ({ target }) => {
  const field = target.closest(".field");
  if (!field?.querySelector(".error") && !field?.hasAttribute("aria-invalid")) return;
  for (const one of field.querySelectorAll(".error")) one.remove();
  for (const one of [field, ...field.querySelectorAll("[aria-invalid]")]) one.removeAttribute("aria-invalid");
  document.querySelector(`#errors a[href="#${CSS.escape(field.id)}"]`)?.closest("li").remove();
  const left = document.querySelectorAll("#errors li").length;
  const all = document.getElementById("errors");
  if (all) left ? (all.querySelector("p").hidden = true) : all.remove();
});

const toggle = document.getElementById("keys");
const help = document.getElementById("help");
let on = true;
function turn(to) {
  on = to;
  document.documentElement.classList.toggle("no-keys", !on);
  if (!toggle) return;
  toggle.textContent = on ? say("Single keys: on") : say("Single keys: off");
  toggle.setAttribute("aria-pressed", String(on));
}
try { turn(localStorage.getItem("longmark keys") !== "off"); } catch { turn(true); }
toggle?.addEventListener("click", () => {
  turn(!on);
  try { localStorage.setItem("longmark keys", on ? "on" : "off"); } catch { /* for this page only */ }
});
document.getElementById("help-close")?.addEventListener("click", () => help.close());

document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    return document.getElementById("submit")?.click();
  }
  if (!on || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || typing(event.target) || help?.open) return;
  const key = event.key.toLowerCase();
  if (key === "j" || key === "k") go(current(), key === "k" ? -1 : groupOf(document.activeElement) ? 1 : 0);
  else if (key === "?" && help) help.showModal();
  else if (key === "." && sources.length) nextSource();
  else if (!choose(key)) return;
  event.preventDefault();
});
conditions();
label();
