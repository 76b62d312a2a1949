// Elements, and any JSON value as something a person can read. Foreign text goes in as text nodes only.

const LONG = 2400;
const CUT = 1500;
const INLINE = 90;

function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === true) node.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

function words(text) {
  const found = text.match(/\S+/g);
  return found ? found.length : 0;
}

function counted(count, one, many) {
  return count.toLocaleString("en") + " " + (count === 1 ? one : many || one + "s");
}

// Foreign text inside a line: a paragraph separator would end the isolation of its direction.
function inline(text) {
  return el("bdi", {}, text.replace(/[\n\r\x1c-\x1e\x85\u2028\u2029]+/g, " "));
}

function plain(key) {
  return key.replaceAll("_", " ");
}

function putText(block, text) {
  block.textContent = text;
}

// A text as a block in its own direction; past LONG characters it opens on demand. put: what fills the block.
function textBlock(text, put = putText) {
  const block = el("div", { class: "text", dir: "auto" });
  if (text.length <= LONG) {
    put(block, text);
    return block;
  }
  const short = text.slice(0, CUT).replace(/\S*$/, "") + "…";
  put(block, short);
  const button = el("button", { type: "button", class: "more", "aria-expanded": "false" });
  const closed = "Show all " + counted(words(text), "word");
  button.textContent = closed;
  button.addEventListener("click", () => {
    const open = button.getAttribute("aria-expanded") !== "true";
    button.setAttribute("aria-expanded", String(open));
    put(block, open ? text : short);
    button.textContent = open ? "Show less" : closed;
  });
  return el("div", {}, block, button);
}

function isObject(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function isDistribution(key, value) {
  return key === "distribution" && isObject(value) && Object.values(value).every((x) => typeof x === "number" && x >= 0 && x <= 1);
}

function isLine(value) {
  return !(typeof value === "string" && (value.length > INLINE || /[\n\u2028\u2029]/.test(value)));
}

function scalar(value) {
  if (value === null) return el("span", { class: "none" }, "none");
  if (value === true) return "yes";
  if (value === false) return "no";
  if (typeof value === "number") return String(Number.isInteger(value) ? value : Number(value.toPrecision(6)));
  if (value === "") return el("span", { class: "none" }, "empty text");
  return isLine(value) ? inline(value) : textBlock(value);
}

function meter(share, kind = "plain") {
  const fill = el("span", { class: kind });
  fill.style.width = Math.max(0, Math.min(1, share)) * 100 + "%";
  return el("span", { class: "meter", "aria-hidden": "true" }, fill);
}

function sharesTable(value) {
  const body = el("tbody");
  for (const [key, share] of Object.entries(value)) {
    body.append(el("tr", {},
      el("th", { scope: "row" }, inline(key)),
      el("td", {}, meter(share)),
      el("td", { class: "number" }, share.toFixed(3))));
  }
  return el("table", { class: "shares" }, body);
}

function objectsTable(list) {
  const columns = [...new Set(list.flatMap((entry) => Object.keys(entry)))];
  const head = el("tr", {}, ...columns.map((key) => el("th", { scope: "col" }, inline(plain(key)))));
  const lines = list.map((entry) => el("tr", {}, ...columns.map((key) => {
    const value = entry[key];
    return el("td", { class: typeof value === "number" ? "number" : null }, key in entry ? render(value, 2) : "");
  })));
  const table = el("table", {}, el("thead", {}, head), el("tbody", {}, ...lines));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table" }, table);
}

function fold(label, content) {
  return el("details", { class: "fold" }, el("summary", {}, label), content);
}

function renderList(list, depth) {
  if (!list.length) return el("span", { class: "none" }, "none");
  const tabular = list.every((entry) => isObject(entry) && Object.values(entry).every((value) =>
    (value === null || typeof value !== "object") && isLine(value)));
  if (tabular && list.length > 1) return objectsTable(list);
  const items = el(list.every((x) => typeof x !== "object") ? "ul" : "ol", { class: "list" });
  items.append(...list.map((entry) => el("li", {}, isObject(entry) ? renderObject(entry, depth + 1, true) : render(entry, depth + 1))));
  if (list.length > 12 || (depth > 1 && list.length > 3)) return fold(counted(list.length, "entry", "entries"), items);
  return items;
}

// An object in a list gathers its short entries in one line, so that a judge's model and score stand above its text.
function renderObject(value, depth, inList) {
  const entries = Object.entries(value);
  if (!entries.length) return el("span", { class: "none" }, "none");
  const lines = el("dl", { class: "pairs" });
  const before = [];
  const short = inList ? entries.filter(([, entry]) => (entry === null || typeof entry !== "object") && isLine(entry)) : [];
  if (short.length > 1) {
    before.push(el("p", { class: "facts-line" }, ...short.flatMap(([key, entry]) =>
      [el("span", {}, el("i", {}, inline(plain(key))), " ", scalar(entry)), " "])));
  }
  for (const [key, entry] of short.length > 1 ? entries.filter((pair) => !short.includes(pair)) : entries) {
    const deep = (entry !== null && typeof entry === "object") || !isLine(entry);
    lines.append(el("div", { class: deep ? "deep" : null }, el("dt", {}, inline(plain(key))), el("dd", {}, isDistribution(key, entry) ? sharesTable(entry) : render(entry, depth + 1))));
  }
  const whole = before.length ? el("div", {}, ...before, lines) : lines;
  return depth > 4 ? fold(counted(entries.length, "entry", "entries"), whole) : whole;
}

function render(value, depth) {
  if (Array.isArray(value)) return renderList(value, depth);
  return isObject(value) ? renderObject(value, depth, false) : scalar(value);
}
