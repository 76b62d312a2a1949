// Parts of a text with a tag each. Offsets count code points of the source; the quote of it is kept beside them. What is
// shown is rendered: each leaf of the text knows where in the source it stands.
const form = document.getElementById("labels");
const boxes = [...document.querySelectorAll("[data-spans]")].map(setUp).filter(Boolean);
const segmenter = "Segmenter" in Intl ? new Intl.Segmenter(document.documentElement.lang, { granularity: "word" }) : null;
const LONG = 160;
let exact = false, held = false;

function setUp(box) {
  const text = document.querySelector(`[data-text="${CSS.escape(box.dataset.over)}"]`);
  if (!text?.textContent) return null;
  const field = box.closest(".field");
  const [input, plain] = [box.querySelector("input[type=hidden]"), box.querySelector(".no-script textarea")];
  const [tags, list] = [box.querySelector(".tags"), box.querySelector(".marked")];
  const source = text.dataset.source;
  const units = [0]; // from code points to UTF-16
  for (const point of source) units.push(units.at(-1) + point.length);
  const leaves = [...text.querySelectorAll("[data-at]")].map((one) => {
    const at = Number(one.dataset.at), length = one.dataset.length;
    return { node: one.firstChild, at: units[at], end: length ? units[at + Number(length)] : units[at] + one.firstChild.length, whole: Boolean(length) };
  });
  const buttons = [...tags.querySelectorAll(".tag")];
  const sentences = (text.dataset.sentences ?? "").split(" ").filter(Boolean).map((place) => place.split("-").map((at) => units[Number(at)]));
  const made = { box, text, source, units, leaves, sentences, tags, buttons, pending: null, spans: [] };
  box.classList.add("ready");
  input.disabled = field.hidden;
  plain.disabled = true;
  plain.removeAttribute("name");
  text.tabIndex = 0;
  text.setAttribute("role", "group");
  text.setAttribute("aria-label", say("{}: text", field.dataset.label));
  text.setAttribute("aria-describedby", field.querySelector(".help.needs-script").id);

  const read = () => {
    try { made.spans = JSON.parse(input.value || "[]"); } catch { made.spans = []; }
    draw();
  };
  const write = () => {
    made.spans.sort((a, b) => a.start - b.start || a.end - b.end);
    input.value = made.spans.length ? JSON.stringify(made.spans) : "";
    draw();
    input.dispatchEvent(new Event("input", { bubbles: true }));
  };
  function draw() {
    list.replaceChildren(...made.spans.map((span) => {
      const line = document.createElement("li");
      const button = buttons.find((one) => one.dataset.tag === span.tag);
      const name = button?.querySelector("[dir]").textContent ?? span.tag;
      const part = (tag, content) => line.appendChild(Object.assign(document.createElement(tag), { textContent: content, dir: "auto" }));
      part("b", name).dataset.tint = String(buttons.indexOf(button) % 6);
      part("q", short(span.quote));
      const remove = part("button", say("Remove"));
      remove.type = "button";
      remove.setAttribute("aria-label", say("Remove {}: {}", name, span.quote.slice(0, 80)));
      remove.addEventListener("click", () => {
        made.spans.splice(made.spans.indexOf(span), 1);
        write();
        (list.querySelector("button") ?? text).focus();
      });
      return line;
    }));
    paint();
  }
  made.mark = (tag) => {
    follow(); // the event of a selection comes later than a key that is pressed at once
    if (!made.pending) return text.focus();
    const { start, end } = snapped(made, made.pending);
    const span = { tag, start: made.units.indexOf(start), end: made.units.indexOf(end), quote: source.slice(start, end) };
    if (!made.spans.some((one) => one.tag === tag && one.start === span.start && one.end === span.end)) made.spans.push(span);
    document.getSelection().collapseToEnd();
    choose(made, null);
    write();
  };
  for (const button of buttons) button.addEventListener("click", () => made.mark(button.dataset.tag));
  tags.addEventListener("pointerdown", (event) => event.preventDefault()); // the selection stays
  tags.querySelector(".letters").addEventListener("click", ({ currentTarget }) => {
    exact = !exact;
    currentTarget.setAttribute("aria-pressed", String(exact));
  });
  text.addEventListener("keydown", (event) => byWord(made, event));
  text.addEventListener("pointerup", ({ pointerType }) => pointerType === "mouse" && setTimeout(() => {
    follow();
    if (made.pending) select(made, snapped(made, made.pending)); // what will be marked is what is seen
  }));
  let pointer = "mouse"; // a click itself says what made it in some browsers only
  text.addEventListener("pointerdown", ({ pointerType }) => (pointer = pointerType));
  text.addEventListener("click", ({ clientX, clientY }) => pointer !== "mouse" && document.getSelection().isCollapsed && tapped(made, clientX, clientY));
  form.addEventListener("restored", read);
  queueMicrotask(read);
  return made;
}
for (const kind of ["pointerdown", "pointermove", "pointerup", "keydown", "keyup"])
  document.addEventListener(kind, (event) => (held = event.altKey), { capture: true, passive: true });

// The beginning and the end of a long part.
function short(quote) {
  const points = [...quote];
  return points.length <= LONG ? quote : `${points.slice(0, 100).join("").trimEnd()} … ${points.slice(-40).join("").trimStart()}`;
}

// Whole words, unless Alt is held; no space at an end.
function snapped({ source, units }, { start, end }) {
  if (segmenter && !exact && !held) {
    for (const { segment, index, isWordLike } of segmenter.segment(source)) {
      const after = index + segment.length;
      if (isWordLike && index < start && start < after) start = index;
      if (isWordLike && index < end && end < after) end = after;
      if (index > end) break;
    }
  }
  while (start < end && /\s/.test(source[start])) start += 1;
  while (end > start && /\s/.test(source[end - 1])) end -= 1;
  while (!units.includes(start)) start -= 1; // never half a character
  while (!units.includes(end)) end += 1;
  return { start, end };
}

function select({ leaves }, { start, end }) {
  const first = leaves.find((one) => one.end > start), last = leaves.findLast((one) => one.at < end);
  document.getSelection().setBaseAndExtent(first.node, first.whole ? 0 : Math.max(start - first.at, 0), last.node, last.whole ? last.node.length : Math.min(end, last.end) - last.at);
}

// A tap selects the sentence that it is on: to drag the ends of a selection is hard on a phone.
function tapped(made, x, y) {
  const caret = document.caretPositionFromPoint?.(x, y), range = caret ? null : document.caretRangeFromPoint?.(x, y);
  const [node, offset] = caret ? [caret.offsetNode, caret.offset] : [range?.startContainer, range?.startOffset];
  const leaf = made.leaves.find((one) => one.node === node);
  if (!leaf) return;
  const at = leaf.whole ? leaf.at : leaf.at + offset;
  const sentence = made.sentences.find(([start, end]) => start <= at && at < end) ?? made.sentences.find(([, end]) => at === end);
  if (sentence) select(made, { start: sentence[0], end: sentence[1] });
}

// The arrow keys move by word; with Shift they select more words.
function byWord(made, event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  const words = made.leaves.flatMap((leaf) => [...leaf.node.data.matchAll(/\S+/g)].map((word) => ({ start: leaf.at + word.index, end: leaf.whole ? leaf.end : leaf.at + word.index + word[0].length })));
  if (!words.length) return;
  const forward = getComputedStyle(made.leaves[0].node.parentElement).direction === "rtl" ? -step : step;
  const to = made.at === undefined ? 0 : Math.min(Math.max(made.at + forward, 0), words.length - 1);
  const from = event.shiftKey && made.at !== undefined ? made.anchor : to;
  [made.at, made.anchor] = [to, from];
  select(made, { start: words[Math.min(from, to)].start, end: words[Math.max(from, to)].end });
  const seen = document.createRange();
  seen.selectNode(made.leaves.find((one) => one.end > words[to].start).node);
  const { top, bottom } = seen.getBoundingClientRect();
  if (top < 80 || bottom > innerHeight - 120) made.text.contains(seen.startContainer) && seen.startContainer.scrollIntoView({ block: "center" });
}

function choose(made, range) {
  made.pending = range;
  made.tags.classList.toggle("floating", Boolean(range));
}
function follow() {
  const selection = document.getSelection();
  const range = selection.rangeCount && !selection.isCollapsed ? selection.getRangeAt(0) : null;
  for (const made of boxes) {
    const inside = range?.intersectsNode(made.text) ? made.leaves.filter(({ node }) => range.intersectsNode(node)) : [];
    if (!inside.length) {
      choose(made, null);
      continue;
    }
    const [first, last] = [inside[0], inside.at(-1)];
    const start = first.node === range.startContainer && !first.whole ? first.at + range.startOffset : first.at;
    const end = last.node === range.endContainer && !last.whole ? last.at + range.endOffset : last.end;
    choose(made, made.source.slice(start, end).trim() ? { start, end } : null);
    const box = range.getBoundingClientRect();
    made.tags.style.setProperty("--x", `${Math.round(Math.min(Math.max(box.left, 12), innerWidth - 320))}px`);
    made.tags.style.setProperty("--y", `${Math.round(Math.max(Math.min(box.bottom + 8, innerHeight - 150), 12))}px`);
  }
}
document.addEventListener("selectionchange", follow);

// Spans may overlap, so they are painted over the text and are not part of it.
function paint() {
  if (!CSS.highlights) return;
  const tints = new Map();
  for (const { leaves, units, buttons, spans } of boxes ?? []) {
    for (const span of spans) {
      const [start, end] = [units[span.start], units[span.end]];
      const tint = buttons.findIndex((one) => one.dataset.tag === span.tag) % 6;
      for (const leaf of leaves) {
        if (end === undefined || leaf.end <= start || leaf.at >= end) continue;
        const range = document.createRange();
        range.setStart(leaf.node, leaf.whole ? 0 : Math.max(start - leaf.at, 0));
        range.setEnd(leaf.node, leaf.whole ? leaf.node.length : Math.min(end, leaf.end) - leaf.at);
        tints.set(tint, [...(tints.get(tint) ?? []), range]);
      }
    }
  }
  for (let tint = 0; tint < 6; tint += 1) CSS.highlights.set(`tint-${tint}`, new Highlight(...(tints.get(tint) ?? [])));
}
