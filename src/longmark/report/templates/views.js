// Views: the evidence of known metrics as a person reads it. A view throws where the evidence has another shape (an
// older run, a damaged row); the results it would have covered are then shown like any other.

const MANY = 12;
const VIEWS = [];

class OtherShape extends Error {}

function need(holds) {
  if (!holds) throw new OtherShape();
}

// What make gives, or null where the evidence has another shape.
function ifShaped(make) {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof OtherShape)) console.error(error);
    return null;
  }
}

function isNumber(value) {
  return typeof value === "number" && Number.isFinite(value);
}

function isTextOrNull(value) {
  return value === null || value === undefined || typeof value === "string";
}

// "score.specificity by jury" is a metric and who scored it, where several judges scored the answer; else "".
const BY = " by ";

function byWhom(name) {
  const at = name.indexOf(BY);
  return at < 0 ? [name, ""] : [name.slice(0, at), name.slice(at + BY.length)];
}

// The views of an answer: title, node, and the names of the results whose evidence they show. Where several judges
// scored the answer, each has its own view.
function viewsOf(entry) {
  const found = [];
  for (const view of VIEWS) {
    const results = new Map();
    for (const [name, result] of Object.entries(entry.results)) {
      const [metric, whose] = byWhom(name);
      if (metric !== view.family && !metric.startsWith(view.family + ".")) continue;
      if (!results.has(whose)) results.set(whose, new Map());
      results.get(whose).set(metric, result);
    }
    for (const [whose, its] of results) {
      const made = ifShaped(() => view.make(its, entry, view.family));
      if (!made) continue;
      const told = whose && BY + whose;
      found.push({ ...made, title: made.title + told, covers: made.covers.map((name) => name + told) });
    }
  }
  return found;
}

function viewSection(view, open) {
  const summary = el("summary", {}, el("h4", {}, view.title), el("span", { class: "view-count" }, view.count));
  view.node = el("details", { class: "view", open }, summary, ...view.content.filter(Boolean));
  return view.node;
}

// Stands in a result whose evidence a view shows: a button that leads there, and the evidence as recorded, on demand.
function pointer(view, evidence) {
  const button = el("button", { type: "button", class: "to-view" }, "See " + view.title);
  button.addEventListener("click", () => {
    view.node.open = true;
    view.node.scrollIntoView({ block: "start" });
    view.node.querySelector("summary").focus({ preventScroll: true });
  });
  return el("div", {}, el("p", { class: "pointer" }, button), foldLater("Evidence as recorded", () => render(evidence, 1)));
}

// A fold whose content is made when it is first opened.
function foldLater(label, make) {
  const details = fold(label, el("div", {}));
  details.addEventListener("toggle", () => {
    if (details.open && !details.lastChild.hasChildNodes()) details.lastChild.append(make());
  });
  return details;
}

// Fills a container with the first entries, and returns the button that adds the others (null where there are none).
function grow(container, entries, make, one, many) {
  container.append(...entries.slice(0, MANY).map(make));
  if (entries.length <= MANY) return null;
  const button = el("button", { type: "button", class: "more" }, "Show all " + counted(entries.length, one, many));
  button.addEventListener("click", () => {
    container.append(...entries.slice(MANY).map((entry, place) => make(entry, place + MANY)));
    const next = container.children[MANY];
    next.tabIndex = -1;
    next.focus({ preventScroll: true });
    button.remove();
  });
  return button;
}

// ---- numbers with a sign

// What the differences of one view share: the ends of their bars' axis and the decimals of their numbers.
function scaleOf(values) {
  const most = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return {
    least: values.reduce((least, value) => Math.min(least, value), 0),
    greatest: values.reduce((greatest, value) => Math.max(greatest, value), 0),
    places: most > 0 ? Math.max(0, Math.min(6, 2 - Math.floor(Math.log10(most)))) : 1,
  };
}

function signed(value, places) {
  const digits = Math.abs(value).toFixed(places);
  if (value === 0) return "0";
  if (Number(digits) === 0) return (value < 0 ? "−" : "+") + String(Number(Math.abs(value).toPrecision(1)));
  return (value < 0 ? "−" : "+") + digits;
}

// A bar from 0 to the right or to the left, and its number. The sign stands in both, the colour only repeats it.
function signedBar(value, scale) {
  const span = scale.greatest - scale.least;
  const track = el("span", { class: "track", "aria-hidden": "true" });
  if (span > 0) {
    const zero = el("span", { class: "zero" });
    zero.style.left = (-scale.least / span) * 100 + "%";
    const fill = el("span", { class: value < 0 ? "fill minus" : "fill" });
    fill.style.left = ((Math.min(0, value) - scale.least) / span) * 100 + "%";
    fill.style.width = (Math.abs(value) / span) * 100 + "%";
    track.append(fill, zero);
  }
  return el("span", { class: "delta", dir: "ltr" }, track, el("b", {}, signed(value, scale.places)));
}

// ---- tables that become cards where they are narrow

function head(...labels) {
  return el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, ...labels.map((label) =>
    el("th", { scope: "col", role: "columnheader" }, typeof label === "string" ? inline(label) : label))));
}

function cell(label, kind, ...content) {
  const words = label ? el("span", { class: "label", "aria-hidden": "true" }, inline(label)) : null;
  return el("td", { role: "cell", class: kind }, words, ...content);
}

function cardTable(kind, titles, entries, make, one, many) {
  const body = el("tbody", { role: "rowgroup" });
  const button = grow(body, entries, make, one, many);
  return el("div", { class: "fitted" },
    el("table", { class: "cards-table " + kind, role: "table" }, head(...titles), body), button);
}
