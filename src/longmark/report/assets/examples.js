// The list of answers: search, filter, sort, pages. An answer's text and evidence are parsed when they are asked for.

const PAGE = 25;
const FEW = 6; // marks of an answer: of more, all are closed at first
const data = JSON.parse(document.getElementById("data").textContent);
const by = (id) => document.getElementById(id);
const state = { q: "", sort: "", status: "", system: "", group: false, page: 1, open: "" };
const several = data.systems.length > 1;
const haystacks = [];

data.examples.forEach((line, place) => { line.place = place; });

function whole(place) {
  return JSON.parse(by("example-" + place).textContent);
}

// The last part of a metric's name; for one of several values also the name of the metric they are values of.
function shortName(name) {
  const [metric, whose] = byWhom(name);
  const parts = metric.split(".");
  return parts.slice(parts.length > 2 ? -2 : -1).map(plain).join(" · ") + (whose && BY + whose);
}

const shortNames = data.metrics.map((metric) => shortName(metric.name));
data.metrics.forEach((metric, i) => {
  const alone = shortNames.indexOf(shortNames[i]) === shortNames.lastIndexOf(shortNames[i]);
  metric.short = alone ? shortNames[i] : plain(metric.name);
});

// Where a run has ended, what has no row gets none: it was not asked for there, or is not for this kind of line.
function isDue(metric, line) {
  return line.statuses[metric.name] !== undefined || !data.ended[line.run];
}

function shown(metric, value) {
  return value.toLocaleString("en", { minimumFractionDigits: metric.decimals, maximumFractionDigits: metric.decimals });
}

function shareOf(metric, value) {
  return metric.lo === null || metric.hi === null ? null : (value - metric.lo) / (metric.hi - metric.lo);
}

function gapsOf(line) {
  return Object.values(line.statuses).filter((status) => status !== "ok");
}

// ---- which answers, in which order

function collect(value, into) {
  if (typeof value === "string") into.push(value);
  else if (value !== null && typeof value === "object") for (const entry of Object.values(value)) collect(entry, into);
}

function haystack(line) {
  if (haystacks[line.place] === undefined) {
    const texts = [line.id, line.question_id, data.systems[line.system]];
    collect(whole(line.place), texts);
    haystacks[line.place] = texts.join("\n").toLowerCase();
  }
  return haystacks[line.place];
}

function matches(line) {
  if (state.system !== "" && line.system !== Number(state.system)) return false;
  const gaps = gapsOf(line);
  if (state.status === "all" && gaps.length) return false;
  if (state.status === "some" && !gaps.length) return false;
  if (!["", "all", "some"].includes(state.status) && !Object.values(line.statuses).includes(state.status)) return false;
  return state.q.toLowerCase().split(/\s+/).filter(Boolean).every((word) => haystack(line).includes(word));
}

// Groups of answers: one a group, or all answers to a question where one of them matches.
function groups() {
  const found = data.examples.filter(matches);
  if (!state.group) return found.map((line) => ({ lines: [line], hits: [line] }));
  const hits = new Map();
  for (const line of found) hits.set(line.question_id, [...(hits.get(line.question_id) || []), line]);
  const all = new Map([...hits.keys()].map((key) => [key, []]));
  for (const line of data.examples) if (all.has(line.question_id)) all.get(line.question_id).push(line);
  return [...hits].map(([key, some]) => ({ lines: all.get(key).sort((a, b) => a.system - b.system), hits: some }));
}

const byId = new Intl.Collator("en", { numeric: true });

function sorted(list) {
  const [key, direction] = state.sort.split(" ");
  if (key === "id") return list.sort((a, b) => byId.compare(a.hits[0].id, b.hits[0].id));
  if (key === "gaps") {
    const most = (group) => Math.max(...group.hits.map((line) => gapsOf(line).length));
    return list.sort((a, b) => most(b) - most(a));
  }
  if (!direction) return list;
  const sign = direction === "up" ? 1 : -1;
  const end = (group) => {
    const values = group.hits.map((line) => line.values[key]).filter((value) => typeof value === "number");
    return values.length ? sign * Math.min(...values.map((value) => sign * value)) : null;
  };
  for (const group of list) group.end = end(group);
  return list.sort((a, b) => (a.end === null) - (b.end === null) || sign * (a.end - b.end));
}

// ---- one answer in the list

function chip(metric, line) {
  const name = el("span", { class: "chip-name" }, metric.short);
  const status = line.statuses[metric.name];
  if (status === undefined) return el("span", { class: "chip missing" }, name, el("b", {}, "not marked yet"));
  if (status !== "ok") return el("span", { class: "chip missing" }, name, el("b", {}, plain(status)));
  const value = line.values[metric.name];
  const share = shareOf(metric, value);
  return el("span", { class: "chip" }, name, el("b", {}, shown(metric, value)), share === null ? null : meter(share));
}

function chips(line) {
  const name = several ? el("span", { class: "chip-system" }, inline(data.systems[line.system])) : null;
  return el("span", { class: "chips" }, name,
    ...data.metrics.filter((metric) => isDue(metric, line)).map((metric) => chip(metric, line)));
}

function item(group) {
  const first = group.hits[0];
  const id = group.lines.length === 1 ? first.id : counted(group.lines.length, "answer") + " · question " + first.question_id;
  const heading = el("span", { class: "item-head" },
    el("span", { class: "snippet", dir: "auto" }, first.snippet || first.id),
    el("span", { class: "id" }, inline(id)));
  const summary = el("summary", {}, heading, el("span", { class: "item-marks" }, ...group.lines.map(chips)));
  const details = el("details", { class: "item" }, summary);
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) details.append(panel(group));
  });
  if (state.open && group.lines.some((line) => line.id === state.open)) details.open = true;
  return el("li", {}, details);
}

// ---- one answer, opened

function part(label, ...content) {
  return el("section", { class: "part" }, el("h4", {}, label), ...content);
}

function panel(group) {
  const opened = group.lines.map((line) => ({ line, ...whole(line.place) }));
  const question = opened.map((entry) => entry.example && entry.example.question).find(Boolean);
  const asked = question && question === group.hits[0].snippet ? null
    : part("Question", question ? textBlock(question) : el("p", { class: "none" }, "no question was given"));
  const answers = el("div", { class: opened.length > 1 ? "answers side" : "answers" }, ...opened.map((entry) => answer(entry, opened.length > 1)));
  if (opened.length > 1) Object.entries({ tabindex: "0", role: "region", "aria-label": "Answers side by side" }).forEach((pair) => answers.setAttribute(...pair));
  return el("div", { class: "panel" }, ...[asked, answers].filter(Boolean));
}

// Beside others an answer has five parts, always the same, so that they stand in rows.
function answer(entry, beside) {
  const views = viewsOf(entry);
  const viewOf = (metric) => views.find((view) => view.covers.includes(metric.name));
  const shown = el("div", { class: "views" }, ...views.map((view) => viewSection(view, !beside)));
  const due = data.metrics.filter((metric) => isDue(metric, entry.line));
  const marks = part("Marks", el("div", { class: "marks" },
    ...due.map((metric) => mark(metric, entry.marks[metric.name], beside || due.length > FEW, viewOf(metric)))), notDue(entry.line));
  const head = el("h3", {}, inline(data.systems[entry.line.system]),
    el("span", { class: "id" }, inline(entry.line.id)));
  const sourced = el("div", {}, ...(entry.example ? sources(entry.example, views.some((view) => view.passages)) : []));
  return el("article", { class: "answer" }, beside ? head : null, answerText(entry.example), shown, marks, sourced);
}

function notDue(line) {
  const names = data.metrics.filter((metric) => !isDue(metric, line)).map((metric) => metric.short);
  return names.length ? fold(counted(names.length, "metric") + " without a row here",
    el("p", { class: "about" }, "Not asked for in this run, or not for this kind of line: ", inline(names.join(", ")), ".")) : null;
}

function answerText(example) {
  if (!example) return part("Answer", el("p", { class: "none" }, "the run’s examples.jsonl does not hold this example"));
  const text = example.answer;
  if (text) return part("Answer · " + counted(words(text), "word"), textBlock(text), cutOff(example.meta));
  return part("Answer", el("p", { class: "none" }, text === null ? "no answer was given" : "the answer is empty"));
}

// `longmark rag` notes how the reply ended.
function cutOff(meta) {
  const told = isObject(meta) && isObject(meta.rag) ? meta.rag : {};
  if (told.finish !== "length") return null;
  const limit = isNumber(told.max_tokens) ? " of " + counted(told.max_tokens, "token") : "";
  return el("p", { class: "notice" }, el("strong", {}, "Cut off."), " The generator’s reply ended at its limit" + limit + ".");
}

// passagesShown: the passages stand in a view above, with what they contributed.
function sources(example, passagesShown) {
  const { id, question_id, question, answer, references = [], contexts = [], ...rest } = example;
  const parts = [];
  if (references.length) {
    parts.push(fold(counted(references.length, "reference"), el("div", {}, ...references.map((text) => textBlock(text)))));
  }
  if (contexts.length && !passagesShown) {
    const passages = contexts.map((context) => {
      const label = [context.id, counted(words(context.text), "word")].filter(Boolean).join(" · ");
      return el("div", { class: "passage" }, el("h5", {}, inline(label)), textBlock(context.text));
    });
    const total = contexts.reduce((sum, context) => sum + words(context.text), 0);
    parts.push(fold(counted(contexts.length, "context") + " · " + counted(total, "word"), el("div", {}, ...passages)));
  }
  if (Object.keys(rest).length) parts.push(fold("More of the record", render(rest, 1)));
  return parts;
}

// closed: its evidence waits until it is asked for, short as it may be. view: what shows that evidence, if a view does.
function mark(metric, found, closed, view) {
  const name = el("span", { class: "mark-name" }, metric.short);
  if (!found) return el("p", { class: "mark bare" }, name, el("span", { class: "gap" }, "not marked yet"));
  const share = found.status === "ok" ? shareOf(metric, found.value) : null;
  const value = found.status === "ok"
    ? el("b", { class: "mark-value" }, shown(metric, found.value))
    : el("b", { class: "gap" }, plain(found.status));
  const reason = found.reason ? el("span", { class: "reason", dir: "auto" }, found.reason) : null;
  const summary = el("summary", {}, name, value, share === null ? null : meter(share), reason);
  const size = JSON.stringify(found.evidence).length;
  const body = el("div", { class: "evidence" });
  if (view) body.append(pointer(view, found.evidence));
  else if (Object.keys(found.evidence).length) body.append(render(found.evidence, 1));
  else body.append(el("p", { class: "none" }, "no evidence was kept"));
  body.append(el("p", { class: "usage" }, usageLine(found)));
  return el("details", { class: "mark", open: !closed && !view && size < 1500 }, summary, body);
}

function usageLine(found) {
  const usage = found.usage;
  const models = Object.entries(found.models).map(([role, names]) => role + " " + names.join(", "));
  if (!usage.calls) return ["no model call", ...models].join(" · ");
  const parts = [counted(usage.calls, "call"), usage.from_cache + " from cache",
    counted(usage.prompt_tokens, "prompt token") + " (" + usage.cached_prompt_tokens.toLocaleString("en") + " reused)",
    counted(usage.completion_tokens, "completion token")];
  if (usage.usd) parts.push("$" + usage.usd.toPrecision(3));
  return [...parts, ...models].join(" · ");
}

// ---- the page's state

function options(select, pairs) {
  select.replaceChildren(...pairs.map(([value, label]) => el("option", { value }, label)));
}

function setUp() {
  const present = new Map();
  for (const line of data.examples) for (const status of new Set(gapsOf(line))) present.set(status, (present.get(status) || 0) + 1);
  const sorts = [["", "order in the file"], ["id", "id"], ["gaps", "missing values first"]];
  for (const metric of data.metrics) {
    sorts.push([metric.name + " up", metric.short + ", lowest first"], [metric.name + " down", metric.short + ", highest first"]);
  }
  options(by("sort"), sorts);
  const statuses = [["", "any"], ["all", "every value there"], ["some", "a value missing"]];
  for (const [status, count] of present) statuses.push([status, plain(status) + " (" + count.toLocaleString("en") + ")"]);
  options(by("status"), statuses);
  options(by("system"), [["", "all"], ...data.systems.map((name, i) => [String(i), name])]);
  by("system-label").hidden = !several;
  const questions = new Set(data.examples.map((line) => line.question_id));
  by("group-label").hidden = questions.size === data.examples.length;
  state.group = several && questions.size < data.examples.length;
  by("tools").hidden = false;
}

function readHash() {
  const asked = new URLSearchParams(location.hash.slice(1));
  for (const key of ["q", "sort", "status", "system", "open"]) if (asked.has(key)) state[key] = asked.get(key);
  if (asked.has("group")) state.group = asked.get("group") === "1";
  if (asked.has("page")) state.page = Number(asked.get("page")) || 1;
  for (const key of ["q", "sort", "status", "system"]) {
    by(key).value = state[key];
    if (by(key).value !== state[key]) state[key] = by(key).value = "";
  }
  by("group").checked = state.group;
}

function writeHash() {
  const kept = Object.entries({ q: state.q, sort: state.sort, status: state.status, system: state.system });
  const said = new URLSearchParams(kept.filter(([, value]) => value));
  said.set("group", state.group ? "1" : "0");
  said.set("page", state.page);
  history.replaceState(null, "", "#" + said);
}

function draw() {
  const list = sorted(groups());
  const pages = Math.max(1, Math.ceil(list.length / PAGE));
  if (state.open) {
    const at = list.findIndex((group) => group.lines.some((line) => line.id === state.open));
    if (at >= 0) state.page = Math.floor(at / PAGE) + 1;
  }
  state.page = Math.min(Math.max(1, state.page), pages);
  const from = (state.page - 1) * PAGE;
  by("items").replaceChildren(...list.slice(from, from + PAGE).map(item));
  by("items").start = from + 1;
  const what = state.group ? counted(list.length, "question") : counted(list.length, "answer");
  by("found").textContent = list.length ? what + (pages > 1 ? ", " + (from + 1) + " to " + Math.min(from + PAGE, list.length) : "") : "Nothing matches. Use fewer words or another status.";
  by("pager").hidden = pages === 1;
  by("page").textContent = "Page " + state.page + " of " + pages.toLocaleString("en");
  by("before").disabled = state.page === 1;
  by("after").disabled = state.page === pages;
}

function change(key, value) {
  state[key] = value;
  state.open = "";
  if (key !== "page") state.page = 1;
  draw();
  writeHash();
}

function listen() {
  let waiting = 0;
  by("q").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => change("q", by("q").value), 180);
  });
  for (const key of ["sort", "status", "system"]) by(key).addEventListener("change", () => change(key, by(key).value));
  by("group").addEventListener("change", () => change("group", by("group").checked));
  by("tools").addEventListener("submit", (event) => event.preventDefault());
  const turn = (step) => {
    change("page", state.page + step);
    by("found").scrollIntoView({ block: "start" });
  };
  by("before").addEventListener("click", () => turn(-1));
  by("after").addEventListener("click", () => turn(1));
  addEventListener("hashchange", () => {
    if (!location.hash.includes("=")) return;
    readHash();
    draw();
  });
}

setUp();
if (location.hash.includes("=")) readHash();
by("group").checked = state.group;
draw();
listen();
