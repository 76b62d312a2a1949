// The list of answers: search, filter, sort, pages. Of an answer's text and evidence only those on view are parsed.

const PAGE = 25;
const FEW = 6; // scores of an answer: of more, all are closed at first
const CHIPS = 5; // scores in the list beside those that say why
const data = JSON.parse(document.getElementById("data").textContent);
const by = (id) => document.getElementById(id);
const state = { q: "", sort: "", status: "", system: "", group: false, page: 1, open: "" };
const several = data.systems.length > 1;
const haystacks = [];

data.examples.forEach((line, place) => { line.place = place; });

function whole(place) {
  return JSON.parse(by("example-" + place).textContent);
}

// In a finished run, a metric without a row was not requested or does not apply to this kind of example.
function isDue(metric, line) {
  return line.statuses[metric.name] !== undefined || !data.ended[line.run];
}

function shown(metric, score) {
  return score.toLocaleString("en", { minimumFractionDigits: metric.decimals, maximumFractionDigits: metric.decimals });
}

function missingOf(line) {
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
  const missing = missingOf(line);
  if (state.status === "all" && missing.length) return false;
  if (state.status === "some" && !missing.length) return false;
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
  if (key === "file") return list;
  if (key === "id") return list.sort((a, b) => byId.compare(a.hits[0].id, b.hits[0].id));
  if (key === "missing") {
    const most = (group) => Math.max(...group.hits.map((line) => missingOf(line).length));
    return list.sort((a, b) => most(b) - most(a));
  }
  const sign = direction === "down" ? -1 : 1;
  for (const group of list) {
    const values = group.hits.map((line) => (key ? line.scores[key] : line.rank)).filter(isNumber);
    group.end = values.length ? sign * Math.min(...values.map((value) => sign * value)) : null;
  }
  return list.sort((a, b) => (a.end === null) - (b.end === null) || sign * (a.end - b.end));
}

// ---- one answer in the list

function chip(metric, line) {
  const name = el("span", { class: "chip-name" }, metric.title);
  const status = line.statuses[metric.name];
  if (status !== "ok") return el("span", { class: "chip missing" }, name, el("b", {}, status ? plain(status) : "not scored yet"));
  const place = goodness(metric, line.scores[metric.name]);
  return el("span", { class: "chip" }, name, el("b", {}, shown(metric, line.scores[metric.name])),
    place === null ? null : meter(place, kindOf(place)));
}

// The scores that do not stand among the reasons; of many the first few, with the one that the list is sorted by.
function chips(line, told) {
  const due = data.metrics.filter((metric) => isDue(metric, line) && !told.includes(metric));
  const key = state.sort.split(" ")[0];
  due.sort((a, b) => (b.name === key) - (a.name === key));
  const rest = due.length > CHIPS + 1 ? due.length - CHIPS : 0;
  const name = several ? el("span", { class: "chip-system" }, inline(data.systems[line.system])) : null;
  if (!name && !due.length) return null;
  return el("span", { class: "chips" }, name, ...due.slice(0, due.length - rest).map((metric) => chip(metric, line)),
    rest ? el("span", { class: "chip none" }, counted(rest, "more score")) : null);
}

// The answer that comes first in the order says why; sorted by another key, the metric of that key stays a chip.
function item(group, number) {
  const head = group.hits.reduce((worst, line) => ((line.rank ?? Infinity) < (worst.rank ?? Infinity) ? line : worst));
  const worst = worstOf(whole(head.place).results);
  const key = state.sort.split(" ")[0];
  const id = group.lines.length === 1 ? head.id : counted(group.lines.length, "answer") + " · question " + head.question_id;
  const heading = el("span", { class: "item-head" },
    el("span", { class: "snippet", dir: "auto" }, head.snippet || head.id), el("span", { class: "id" }, inline(id)),
    head.excerpt ? el("span", { class: "excerpt", dir: "auto" }, head.excerpt) : null);
  const whose = several && group.lines.length > 1 && worst.length ? el("span", { class: "chip-system" }, "Worst: ", inline(data.systems[head.system])) : null;
  const told = worst.map(({ metric }) => metric);
  const summary = el("summary", {}, el("span", { class: "rank", "aria-hidden": "true" }, String(number)), heading,
    el("span", { class: "item-results" }, whose, ...worst.map(reasonLine),
      ...group.lines.map((line) => chips(line, line === head ? told.filter((metric) => metric.name !== key) : []))));
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
  const results = part("Scores", el("div", { class: "results" },
    ...due.map((metric) => result(metric, entry.results[metric.name], beside || due.length > FEW, viewOf(metric)))), notDue(entry.line));
  const head = el("h3", {}, inline(data.systems[entry.line.system]),
    el("span", { class: "id" }, inline(entry.line.id)));
  const sourced = el("div", {}, ...(entry.example ? sources(entry.example, views.some((view) => view.passages)) : []));
  return el("article", { class: "answer" }, beside ? head : null, answerText(entry.example), shown, results, sourced);
}

function notDue(line) {
  const names = data.metrics.filter((metric) => !isDue(metric, line)).map((metric) => metric.title);
  return names.length ? fold(counted(names.length, "metric") + " without a score here",
    el("p", { class: "about" }, "Not requested in this run, or not applicable to this example: ", inline(names.join(", ")), ".")) : null;
}

function answerText(example) {
  if (!example) return part("Answer", el("p", { class: "none" }, "this example is not in the run’s examples.jsonl"));
  const text = example.answer;
  if (text) return part("Answer · " + counted(words(text), "word"), textBlock(text), cutOff(example.meta));
  return part("Answer", el("p", { class: "none" }, text === null ? "no answer was given" : "the answer is empty"));
}

// `longmark rag` notes how the reply ended.
function cutOff(meta) {
  const rag = isObject(meta) && isObject(meta.rag) ? meta.rag : {};
  if (rag.finish !== "length") return null;
  const limit = isNumber(rag.max_tokens) ? " of " + counted(rag.max_tokens, "token") : "";
  return el("p", { class: "notice" }, el("strong", {}, "Cut off."), " The generator’s reply ended at its limit" + limit + ".");
}

// passagesShown: a view above shows the passages and what they contributed.
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

// closed: whether its evidence is folded even if it is short. view: what shows that evidence, if a view does.
function result(metric, found, closed, view) {
  const name = el("span", { class: "result-name" }, metric.title, " ", el("code", {}, metric.name));
  if (!found) return el("p", { class: "result bare" }, name, el("span", { class: "gap" }, "not scored yet"));
  const place = found.status === "ok" ? goodness(metric, found.score) : null;
  const score = found.status === "ok" ? el("b", { class: "result-score" }, shown(metric, found.score))
    : el("b", { class: "gap" }, plain(found.status));
  const reason = found.reason ? el("span", { class: "reason", dir: "auto" }, found.reason) : null;
  const summary = el("summary", {}, name, score, place === null ? null : meter(place, kindOf(place)), reason);
  const body = el("div", { class: "evidence" });
  if (view) body.append(pointer(view, found.evidence));
  else if (Object.keys(found.evidence).length) body.append(render(found.evidence, 1));
  else body.append(el("p", { class: "none" }, "no evidence was recorded"));
  body.append(el("p", { class: "usage" }, usageLine(found)));
  return el("details", { class: "result", open: !closed && !view && JSON.stringify(found.evidence).length < 1500 }, summary, body);
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
  for (const line of data.examples) for (const status of new Set(missingOf(line))) present.set(status, (present.get(status) || 0) + 1);
  const sorts = [["", "worst first"], ["missing", "most missing scores first"], ["file", "order in the file"], ["id", "id"]];
  for (const metric of data.metrics) {
    sorts.push([metric.name + " up", metric.title + ", lowest first"], [metric.name + " down", metric.title + ", highest first"]);
  }
  options(by("sort"), sorts);
  const statuses = [["", "any"], ["all", "all scored"], ["some", "some missing"]];
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
  by("items").replaceChildren(...list.slice(from, from + PAGE).map((group, i) => item(group, from + i + 1)));
  by("order").textContent = state.sort ? "Answers" : "Worst answers first";
  by("items").start = from + 1;
  const what = state.group ? counted(list.length, "question") : counted(list.length, "answer");
  by("found").textContent = list.length ? what + (pages > 1 ? ", " + (from + 1) + " to " + Math.min(from + PAGE, list.length) : "") : "Nothing matches. Use fewer words or another filter.";
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
