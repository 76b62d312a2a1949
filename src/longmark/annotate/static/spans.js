// Parts of a text with a tag each. Offsets count code points; the quote is kept beside them.
const form = document.getElementById("labels");
const boxes = [...document.querySelectorAll("[data-spans]")].map(setUp).filter(Boolean);

function setUp(box) {
  const text = document.querySelector(`[data-text="${CSS.escape(box.dataset.over)}"]`);
  const node = text?.firstChild;
  if (!node) return null;
  const field = box.closest(".field");
  const [input, plain] = [box.querySelector("input[type=hidden]"), box.querySelector(".no-script textarea")];
  const [tags, list] = [box.querySelector(".tags"), box.querySelector(".marked")];
  const made = { box, text, node, tags, pending: null, spans: [] };
  box.classList.add("ready");
  input.disabled = field.hidden;
  plain.disabled = true;
  plain.removeAttribute("name");
  text.tabIndex = 0;
  text.setAttribute("role", "group");
  text.setAttribute("aria-label", `${field.dataset.label}: text`);
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
      const button = [...tags.children].find((one) => one.dataset.tag === span.tag);
      const name = button?.querySelector("[dir]").textContent ?? span.tag;
      const part = (tag, content) => line.appendChild(Object.assign(document.createElement(tag), { textContent: content, dir: "auto" }));
      part("b", name).dataset.tint = String([...tags.children].indexOf(button) % 6);
      part("q", span.quote);
      const remove = part("button", "Remove");
      remove.type = "button";
      remove.setAttribute("aria-label", `Remove ${name}: ${span.quote.slice(0, 80)}`);
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
    const { start, end } = made.pending;
    const [from, quote] = [[...node.data.slice(0, start)].length, node.data.slice(start, end)];
    const span = { tag, start: from, end: from + [...quote].length, quote };
    if (!made.spans.some((one) => one.tag === tag && one.start === span.start && one.end === span.end)) made.spans.push(span);
    document.getSelection().collapse(node, end);
    choose(made, null);
    write();
  };
  for (const button of tags.children) {
    button.addEventListener("pointerdown", (event) => event.preventDefault()); // the selection stays
    button.addEventListener("click", () => made.mark(button.dataset.tag));
  }
  text.addEventListener("keydown", (event) => byWord(made, event));
  form.addEventListener("restored", read);
  queueMicrotask(read);
  return made;
}

// The arrow keys move by word; with Shift they select more words.
function byWord(made, event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  const words = [...made.node.data.matchAll(/\S+/g)];
  if (!words.length) return;
  const forward = getComputedStyle(made.text).direction === "rtl" ? -step : step;
  const to = made.at === undefined ? 0 : Math.min(Math.max(made.at + forward, 0), words.length - 1);
  const from = event.shiftKey && made.at !== undefined ? made.anchor : to;
  [made.at, made.anchor] = [to, from];
  const [first, final] = [words[Math.min(from, to)], words[Math.max(from, to)]];
  document.getSelection().setBaseAndExtent(made.node, first.index, made.node, final.index + final[0].length);
  const seen = document.createRange();
  seen.setStart(made.node, words[to].index);
  const { top, bottom } = seen.getBoundingClientRect();
  if (top < 80 || bottom > innerHeight - 120) scrollBy(0, top - innerHeight / 2);
}

function choose(made, range) {
  made.pending = range;
  made.tags.classList.toggle("floating", Boolean(range));
}
function follow() {
  const selection = document.getSelection();
  for (const made of boxes) {
    const range = selection.rangeCount && !selection.isCollapsed ? selection.getRangeAt(0) : null;
    if (!range || !range.intersectsNode(made.node)) {
      choose(made, null);
      continue;
    }
    let start = range.startContainer === made.node ? range.startOffset : 0;
    let end = range.endContainer === made.node ? range.endOffset : made.node.length;
    while (start < end && /\s/.test(made.node.data[start])) start += 1;
    while (end > start && /\s/.test(made.node.data[end - 1])) end -= 1;
    choose(made, start < end ? { start, end } : null);
    const box = range.getBoundingClientRect();
    made.tags.style.setProperty("--x", `${Math.round(Math.min(Math.max(box.left, 12), innerWidth - 320))}px`);
    made.tags.style.setProperty("--y", `${Math.round(Math.min(box.bottom + 8, innerHeight - 150))}px`);
  }
}
document.addEventListener("selectionchange", follow);

// Spans may overlap, so they are painted over the text and are not part of it.
function paint() {
  if (!CSS.highlights) return;
  const tints = new Map();
  for (const { node, tags, spans } of boxes ?? []) {
    const points = [...node.data];
    const unit = (at) => points.slice(0, at).join("").length;
    for (const span of spans) {
      const range = document.createRange();
      if (span.end > points.length) continue;
      range.setStart(node, unit(span.start));
      range.setEnd(node, unit(span.end));
      const tint = [...tags.children].findIndex((one) => one.dataset.tag === span.tag) % 6;
      tints.set(tint, [...(tints.get(tint) ?? []), range]);
    }
  }
  for (let tint = 0; tint < 6; tint += 1) CSS.highlights.set(`tint-${tint}`, new Highlight(...(tints.get(tint) ?? [])));
}
