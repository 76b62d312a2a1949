"use strict";
// The list of answers: search, filter, sort, groups, pages. What is shown of an answer is in its pack.

// Answers, about: questions are not divided. On a phone an answer takes three times the height.
const PAGE = matchMedia("(max-width: 600px)").matches ? 15 : 25;
const MOST_LISTED = 8; // answers of a group whose scores are in the list
const CHIPS = 5; // scores in the list beside those that say why
const data = JSON.parse(document.getElementById("data").textContent);
const by = (id) => document.getElementById(id);
const state = { q: "", sort: "", status: "", system: "", filter: "", group: false, page: 1, open: "" };
const several = data.systems.length > 1;
const turns = data.examples.some((line) => line.turn);
const haystacks = [];
const unpacked = []; // the HTML of each answer, as far as it was asked for
const contents = []; // its elements
const ENTITIES = { lt: "<", gt: ">", amp: "&", "#34": '"', "#39": "'" };
let drawn = 0;

data.examples.forEach((line, place) => { line.place = place; });

function el(tag, className, ...children) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.append(...children);
  return node;
}

function counted(count, one) {
  return count.toLocaleString("en") + " " + (count === 1 ? one : one + "s");
}

// Reads the packs of answers: HTML that is compressed, since most of it is alike.
async function unpack(lines) {
  const packs = new Set(lines.filter((line) => !unpacked[line.place]).map((line) => Math.floor(line.place / data.pack)));
  await Promise.all([...packs].map(async (pack) => {
    const stream = new DecompressionStream("deflate");
    const writer = stream.writable.getWriter();
    writer.write(Uint8Array.from(atob(by("pack-" + pack).textContent), (char) => char.charCodeAt(0)));
    writer.close();
    const answers = (await new Response(stream.readable).text()).split("<!---->");
    answers.forEach((html, i) => { unpacked[pack * data.pack + i] = html; });
  }));
}

function contentOf(line) {
  if (!contents[line.place]) {
    const template = document.createElement("template");
    template.innerHTML = unpacked[line.place];
    contents[line.place] = template.content;
  }
  return contents[line.place];
}

// A copy of a part of what the page holds of an answer; null where it has no such part.
function copy(line, part) {
  const found = contentOf(line).querySelector(part);
  return found && found.cloneNode(true);
}

// ---- which answers, in which order

function missingOf(line) {
  return Object.values(line.statuses).filter((status) => status !== "ok");
}

// The foreign texts, read by pattern: to make the elements of 2,000 answers takes seconds.
function haystack(line) {
  if (haystacks[line.place] === undefined) {
    const foreign = unpacked[line.place].matchAll(/<(bdi|pre|\w+(?= [^>]*dir="auto"))[^>]*>(.*?)<\/\1>/gs);
    const texts = [...foreign].map((one) => one[2].replace(/<[^>]*>/g, "").replace(/&(lt|gt|amp|#34|#39);/g, (_, name) => ENTITIES[name]));
    haystacks[line.place] = [line.id, line.question_id, data.systems[line.system], ...texts].join("\n").toLowerCase();
  }
  return haystacks[line.place];
}

function matches(line) {
  if (state.system !== "" && line.system !== Number(state.system)) return false;
  if (state.filter !== "" && !line.filters.includes(state.filter)) return false;
  const missing = missingOf(line);
  if (state.status === "all" && missing.length) return false;
  if (state.status === "some" && !missing.length) return false;
  if (!["", "all", "some"].includes(state.status) && !missing.includes(state.status)) return false;
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
  if (key === "file" || (!key && !data.directed)) return list;
  if (key === "id") return list.sort((a, b) => byId.compare(a.hits[0].id, b.hits[0].id));
  if (key === "missing") {
    const most = (group) => Math.max(...group.hits.map((line) => missingOf(line).length));
    return list.sort((a, b) => most(b) - most(a));
  }
  const sign = direction === "down" ? -1 : 1;
  for (const group of list) {
    const values = group.hits.map((line) => (key ? line.scores[key] : line.rank)).filter(Number.isFinite);
    group.end = values.length ? sign * Math.min(...values.map((value) => sign * value)) : null;
  }
  return list.sort((a, b) => (a.end === null) - (b.end === null) || sign * (a.end - b.end));
}

// ---- one answer in the list, and opened

// The scores that are not among the reasons: the first few, with the one that the list is sorted by.
function chips(line, head) {
  const row = copy(line, ".chips");
  const key = state.sort.split(" ")[0];
  const all = [...row.querySelectorAll(".chip")];
  const kept = all.filter((chip) => line !== head || chip.dataset.metric === key || !chip.classList.contains("among-reasons"));
  kept.sort((a, b) => (b.dataset.metric === key) - (a.dataset.metric === key));
  all.forEach((chip) => chip.remove());
  const shown = kept.length > CHIPS + 1 ? CHIPS : kept.length;
  if (line.turn && kept.length) row.append(el("span", "chip-turn", "Turn " + line.turn));
  row.append(...kept.slice(0, shown));
  if (shown < kept.length) row.append(el("span", "chip none", counted(kept.length - shown, "more score")));
  return row;
}

// The answer that comes first in the order says why.
function item(group, number) {
  const rank = (line) => line.rank ?? Infinity;
  const head = group.hits.reduce((worst, line) => (rank(line) < rank(worst) ? line : worst));
  const heading = copy(head, ".item-head");
  const listed = group.lines.slice(0, MOST_LISTED);
  const rows = listed.map((line) => chips(line, head));
  rows.forEach((row, i) => { if (i && listed[i].turn && listed[i].system === listed[i - 1].system) row.querySelectorAll(".chip-system").forEach((one) => one.remove()); });
  const results = el("div", "item-results", copy(head, ".reasons"), ...rows);
  if (listed.length < group.lines.length) results.append(el("p", "none", counted(group.lines.length - listed.length, "more answer")));
  if (group.lines.length > 1) {
    const own = head.turn && !several;
    heading.querySelector(".id").replaceChildren(counted(group.lines.length, "answer") + (head.turn ? " · conversation " : " · question "), el("bdi", "", own ? head.id.slice(0, head.id.lastIndexOf("#")) : head.question_id));
    if (several && results.querySelector(".why-line")) results.prepend(el("span", "chip-system", data.directed ? "Worst: " : "", el("bdi", "", data.systems[head.system])));
  }
  const details = el("details", "item", el("summary", "", el("span", "rank", String(number)), heading, results));
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) details.append(panel(group));
  });
  details.open = state.open !== "" && group.lines.some((line) => line.id === state.open);
  return el("li", "", details);
}

// The answers of each conversation, one after the other; any other answer by itself.
function columns(lines) {
  const found = new Map();
  for (const line of lines) {
    const key = line.turn ? line.system + " " + line.turn_of : line;
    found.set(key, [...(found.get(key) || []), line]);
  }
  return [...found.values()].map((some) => {
    if (!some[0].turn || lines.length === 1) return copy(some[0], ".answer");
    some.sort((a, b) => a.turn - b.turn);
    return el("div", "conversation", el("h3", "", el("bdi", "", data.systems[some[0].system])), ...some.map((line) => folded(copy(line, ".answer"))));
  });
}

// An answer whose scores stand beside its turn, with their evidence folded.
function folded(answer) {
  const scores = answer.querySelector(".results").parentElement;
  const fold = el("details", "fold", el("summary", "", "Scores with evidence"));
  scores.replaceWith(fold);
  fold.append(scores);
  return answer;
}

// Answers to one question are side by side, with every fold closed.
function panel(group) {
  const all = columns(group.lines);
  const beside = all.length > 1;
  const answers = el("div", beside ? "answers side" : "answers", ...all);
  if (beside) {
    answers.querySelectorAll("details").forEach((details) => { details.open = false; });
    Object.entries({ tabindex: "0", role: "region", "aria-label": `Answers side by side: ${group.lines.map((line) => line.id).join(", ")}` }).forEach((pair) => answers.setAttribute(...pair));
  }
  const asked = group.lines.map((line) => copy(line, ".question")).find(Boolean);
  return el("div", "panel", ...(asked ? [asked] : []), answers);
}

// ---- the page's state

function options(select, pairs) {
  select.replaceChildren(...pairs.map(([value, label]) => new Option(label, value)));
}

function setUp() {
  const present = new Map();
  for (const line of data.examples) for (const status of new Set(missingOf(line))) present.set(status, (present.get(status) || 0) + 1);
  const sorts = data.directed ? [["", data.worst], ["file", "order in the file"]] : [["", "order in the file"]];
  sorts.push(["missing", "most missing scores first"], ["id", "id"]);
  for (const metric of data.metrics) {
    sorts.push([metric.name + " up", metric.title + ", lowest first"], [metric.name + " down", metric.title + ", highest first"]);
  }
  options(by("sort"), sorts);
  const statuses = [...present].map(([status, count]) => [status, status.replaceAll("_", " ") + " (" + count.toLocaleString("en") + ")"]);
  options(by("status"), [["", "any"], ["all", "all scored"], ["some", "some missing"], ...statuses]);
  options(by("system"), [["", "all"], ...data.systems.map((name, i) => [String(i), name])]);
  by("system-label").hidden = !several;
  const questions = new Set(data.examples.map((line) => line.question_id));
  by("group-label").hidden = questions.size === data.examples.length;
  state.group = (several || turns) && questions.size < data.examples.length;
  if (turns) by("group-label").lastChild.textContent = " Group answers by conversation";
  by("tools").hidden = false;
  const filters = [["", several ? "all questions" : "all " + data.noun + "s"], ...data.filters.map((name) => [name, name])];
  by("filters").replaceChildren(...filters.map(([name, label]) => {
    const passing = data.examples.filter((line) => !name || line.filters.includes(name));
    const count = several ? new Set(passing.map((line) => line.question_id)).size : passing.length;
    const button = el("button", "", label + " (" + count.toLocaleString("en") + ")");
    button.type = "button";
    button.value = name;
    button.addEventListener("click", () => change("filter", name));
    return button;
  }));
  by("filters").hidden = false;
}

function readHash() {
  const asked = new URLSearchParams(location.hash.slice(1));
  for (const key of ["q", "sort", "status", "system", "filter", "open"]) if (asked.has(key)) state[key] = asked.get(key);
  if (asked.has("group")) state.group = asked.get("group") === "1";
  if (asked.has("page")) state.page = Number(asked.get("page")) || 1;
  if (!data.filters.includes(state.filter)) state.filter = "";
  for (const key of ["q", "sort", "status", "system"]) {
    by(key).value = state[key];
    if (by(key).value !== state[key]) state[key] = by(key).value = "";
  }
}

function writeHash() {
  const { q, sort, status, system, filter } = state;
  const kept = new URLSearchParams(Object.entries({ q, sort, status, system, filter }).filter(([, value]) => value));
  kept.set("group", state.group ? "1" : "0");
  kept.set("page", state.page);
  history.replaceState(null, "", "#" + kept);
}

async function draw() {
  const mine = ++drawn;
  if (state.q) await unpack(data.examples);
  if (mine !== drawn) return;
  const list = sorted(groups());
  const answers = list.reduce((sum, group) => sum + group.lines.length, 0);
  const size = Math.max(1, Math.round((PAGE * list.length) / Math.max(1, answers)));
  const pages = Math.max(1, Math.ceil(list.length / size));
  const at = list.findIndex((group) => state.open && group.lines.some((line) => line.id === state.open));
  state.page = at < 0 ? Math.min(Math.max(1, state.page), pages) : Math.floor(at / size) + 1;
  const from = (state.page - 1) * size;
  const shown = list.slice(from, from + size);
  await unpack(shown.flatMap((group) => group.lines));
  if (mine !== drawn) return;
  by("items").replaceChildren(...shown.map((group, i) => item(group, from + i + 1)));
  by("order").textContent = state.sort || !data.directed ? "Answers" : data.heading;
  by("group").checked = state.group;
  for (const button of by("filters").children) button.setAttribute("aria-pressed", String(button.value === state.filter));
  const what = counted(list.length, state.group ? (turns ? "conversation" : "question") : data.noun);
  by("found").textContent = list.length ? what + (pages > 1 ? ", " + (from + 1) + " to " + Math.min(from + size, list.length) : "") : "Nothing matches. Use fewer words or another filter.";
  by("pager").hidden = pages === 1;
  by("page").textContent = "Page " + state.page + " of " + pages.toLocaleString("en");
  by("before").disabled = state.page === 1;
  by("after").disabled = state.page === pages;
}

async function change(key, value) {
  state[key] = value;
  state.open = "";
  if (key !== "page") state.page = 1;
  await draw();
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
  for (const [id, step] of [["before", -1], ["after", 1]]) {
    by(id).addEventListener("click", () => {
      change("page", state.page + step);
      by("found").scrollIntoView({ block: "start" });
    });
  }
  addEventListener("hashchange", start);
}

function start() {
  if (location.hash.includes("=")) readHash();
  draw();
}

setUp();
start();
listen();
