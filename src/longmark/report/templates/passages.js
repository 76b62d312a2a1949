// Passages with what they contributed (score.context_utilization): the facts drawn from each, with their deltas. Which
// passage a fact comes from is shown as far as the row knows it: of one, of some together, or of all together.

function passagesView(results, entry, family) {
  const names = ["absolute", "relative"].map((part) => family + "." + part).filter((name) => results.has(name));
  const evidence = names.map((name) => results.get(name).evidence).find((one) => isObject(one) && Array.isArray(one.claims));
  need(evidence && evidence.claims.length);
  need(isTextOrNull(evidence.most_needed) && isTextOrNull(evidence.most_distracting));
  const contexts = (entry.example && entry.example.contexts) || [];
  for (const fact of evidence.claims) {
    need(isObject(fact) && typeof fact.claim === "string" && isNumber(fact.delta));
    need(fact.relative === null || fact.relative === undefined || isNumber(fact.relative));
  }
  const groups = bySource(evidence.claims, contexts.length);
  const show = factsTable(evidence);
  const parts = contexts.map((context, i) => passagePart(context, i + 1, groups, show));
  for (const [key, facts] of groups) {
    const numbers = key ? key.split(" ").map(Number) : [];
    if (numbers.length === 1 && numbers[0] <= contexts.length) continue;
    parts.push(el("section", { class: "passage" }, el("h5", {}, sourcesName(numbers)),
      el("p", { class: "about" }, numbers.length === 1 ? "" : togetherSay(numbers), " ", sumSay(facts, show.scale)), show(facts)));
  }
  const holder = el("div", {});
  const more = grow(holder, parts, (part) => part, "passage");
  return { title: "Passages and what they contributed", passages: contexts.length > 0,
    count: (contexts.length ? counted(contexts.length, "passage") + " · " : "") + counted(evidence.claims.length, "fact"),
    content: [...passagesSay(evidence, results, names), holder, more], covers: names };
}

// "2" -> the facts of passage 2; "1 3" -> of 1 or 3 or both; "" -> it is not on record. Of a single passage all are its.
function bySource(facts, count) {
  const groups = new Map();
  for (const fact of facts) {
    const known = Array.isArray(fact.passages) && fact.passages.length
      && fact.passages.every((number) => Number.isInteger(number) && number > 0 && (!count || number <= count));
    const key = known ? fact.passages.join(" ") : count === 1 ? "1" : "";
    groups.set(key, [...(groups.get(key) || []), fact]);
  }
  return groups;
}

function sourcesName(numbers) {
  if (!numbers.length) return "Facts of all passages together";
  if (numbers.length === 1) return "Passage " + numbers[0];
  const run = numbers[numbers.length - 1] - numbers[0] === numbers.length - 1 && numbers.length > 2;
  const list = run ? numbers[0] + " to " + numbers[numbers.length - 1]
    : numbers.slice(0, -1).join(", ") + " and " + numbers[numbers.length - 1];
  return "Facts of the passages " + list + " together";
}

function togetherSay(numbers) {
  return numbers.length ? "The judge read these passages at once, so which of them holds a fact is not known for certain."
    : "The row does not say which passage a fact comes from.";
}

function sumSay(facts, scale) {
  const sum = facts.reduce((total, fact) => total + fact.delta, 0);
  return facts.length > 1 ? "Their " + counted(facts.length, "delta") + " add up to " + signed(sum, scale.places) + "." : "";
}

function passagePart(context, number, groups, show) {
  const own = groups.get(String(number));
  const shared = [...groups.keys()].some((key) => key.split(" ").includes(String(number)) && key !== String(number));
  const label = ["Passage " + number, context.id, counted(words(context.text), "word")].filter(Boolean).join(" · ");
  const none = shared ? "No fact is known to come from it alone; those of several passages stand below."
    : groups.has("") ? "" : "No fact was drawn from it.";
  return el("section", { class: "passage" }, el("h5", {}, inline(label)),
    own ? el("p", { class: "about" }, sumSay(own, show.scale)) : none ? el("p", { class: "none" }, none) : null,
    own ? show(own) : null,
    foldLater("The passage", () => textBlock(context.text)));
}

function passagesSay(evidence, results, names) {
  const lines = [el("p", { class: "about" }, "A fact’s delta is the model’s confidence in the answer given all facts, less its confidence without this one"
    + (isNumber(evidence.confidence) ? " (with all of them " + evidence.confidence.toPrecision(3) + ")" : "")
    + ": + says that the answer rests on the fact, − that the fact speaks against the answer or distracts from it.")];
  const means = names.filter((name) => results.get(name).status === "ok").map((name) =>
    (name.endsWith("relative") ? "mean of delta / confidence = " : "mean delta = ") + signed(results.get(name).score, 4));
  if (means.length) lines.push(el("p", { class: "sum-line" }, means.join(", ")));
  for (const [key, badge] of Object.entries(EXTREMES)) {
    lines.push(el("p", { class: "extreme" }, badge(), " ",
      evidence[key] ? el("bdi", { dir: "auto" }, evidence[key]) : el("span", { class: "none" }, key === "most_needed" ? "no fact has a delta above 0" : "no fact has a delta below 0")));
  }
  return lines;
}

const EXTREMES = {
  most_needed: () => el("span", { class: "badge" }, el("span", { "aria-hidden": "true" }, "▲ "), "most needed"),
  most_distracting: () => el("span", { class: "badge minus" }, el("span", { "aria-hidden": "true" }, "▼ "), "most distracting"),
};

function factsTable(evidence) {
  const scale = scaleOf(evidence.claims.map((fact) => fact.delta));
  const make = (fact) => {
    const badges = Object.entries(EXTREMES).filter(([key]) => fact.claim === evidence[key]).map(([, badge]) => badge());
    return el("tr", { role: "row" }, cell("", "main", textBlock(fact.claim), ...badges),
      cell("delta", "delta-cell", signedBar(fact.delta, scale)),
      cell("of the confidence", "number", isNumber(fact.relative) ? signed(100 * fact.relative, 1) + " %" : "–"));
  };
  const show = (facts) => cardTable("facts-table", ["Fact", "Delta", "Of the confidence"], facts, make, "fact");
  show.scale = scale;
  return show;
}

VIEWS.push({ family: "score.context_utilization", make: passagesView });
