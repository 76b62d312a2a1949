// Claims with their verdicts (score.specificity): the vote on each dimension, the judges' labels and reasons, the score.

const VERDICTS = {
  yes: ["✓", "stated, and verifiable in the passages"],
  no: ["✗", "stated, not verifiable in the passages"],
  "n/a": ["–", "not stated"],
};

function isVerdict(value) {
  return typeof value === "string" && Object.hasOwn(VERDICTS, value);
}

function verdict(label) {
  const [symbol, meaning] = VERDICTS[label];
  return el("span", { class: "verdict verdict-" + label.replace("/", ""), title: label + ": " + meaning },
    el("span", { "aria-hidden": "true" }, symbol), " ", label);
}

function verdictLegend() {
  return el("ul", { class: "legend" }, ...Object.entries(VERDICTS).map(([label, [, meaning]]) =>
    el("li", {}, verdict(label), " ", meaning)));
}

// A claim's vote on a dimension as the row has it; labels and reasons may be missing, a vote may not.
function checkedVote(entry) {
  need(isObject(entry) && isVerdict(entry.vote));
  const labels = Array.isArray(entry.labels) ? entry.labels : [];
  const reasons = Array.isArray(entry.reasons) ? entry.reasons : [];
  need(labels.every((label) => label === null || isVerdict(label)) && reasons.every(isTextOrNull));
  return { vote: entry.vote, labels, reasons };
}

// All claims on all dimensions, from the result that has the metric's own name.
function claimsOfAll(evidence) {
  need(isObject(evidence) && isObject(evidence.weights) && Array.isArray(evidence.claims));
  const names = Object.keys(evidence.weights);
  need(names.length && names.every((name) => isNumber(evidence.weights[name])));
  return { names, claims: evidence.claims.map((entry) => {
    need(isObject(entry) && typeof entry.claim === "string" && isObject(entry.dimensions));
    return { claim: entry.claim, votes: new Map(names.map((name) => [name, checkedVote(entry.dimensions[name])])) };
  }) };
}

// Where only dimensions were scored: each has the claims on which a judge found a detail, so the others are n/a.
function claimsOfDimensions(results, family) {
  const claims = new Map();
  const names = [];
  for (const [metric, { evidence }] of results) {
    if (metric === family || !isObject(evidence) || !isObject(evidence.votes)) continue;
    const name = metric.slice(family.length + 1);
    need(Array.isArray(evidence.claims));
    names.push(name);
    for (const entry of evidence.claims) {
      need(isObject(entry) && typeof entry.claim === "string");
      if (!claims.has(entry.claim)) claims.set(entry.claim, new Map());
      claims.get(entry.claim).set(name, checkedVote(entry));
    }
  }
  need(names.length && claims.size);
  const none = { vote: "n/a", labels: [], reasons: [] };
  return { names, claims: [...claims].map(([claim, votes]) =>
    ({ claim, votes: new Map(names.map((name) => [name, votes.get(name) || none])) })) };
}

function claimsView(results, entry, family) {
  const overall = results.get(family);
  let found = overall ? ifShaped(() => claimsOfAll(overall.evidence)) : null;
  const whole = found !== null;
  if (!whole) found = claimsOfDimensions(results, family);
  const covers = found.names.map((name) => family + "." + name);
  const said = [verdictLegend(), claimsTable(found, jurors(results, whole ? overall.evidence.judges : null))];
  if (whole) said.push(...claimsScore(found, overall, entry));
  else said.push(el("p", { class: "about" }, "Claims on which no judge found a detail are not on record here: score.specificity itself keeps them."));
  return { title: "Claims and their verdicts", count: counted(found.claims.length, "claim"), content: said,
    covers: whole ? [family, ...covers] : covers };
}

// The name of the k-th voice of n: a judge each, or samples of the one judge.
function jurors(results, judges) {
  const models = [...results.values()].map((result) => result.models && result.models.judge).find(Array.isArray) || [];
  return (k, n) => {
    const names = Array.isArray(judges) && judges.length === n ? judges : models.length === n ? models : null;
    if (!names) return models.length === 1 ? models[0] + ", sample " + (k + 1) : "judge " + (k + 1);
    return String(names[k]) + (n > 1 && new Set(names).size === 1 ? ", sample " + (k + 1) : "");
  };
}

function claimsTable(found, juror) {
  const make = ({ claim, votes }) => {
    const judged = [...votes].filter(([, { labels }]) => labels.length);
    return el("tr", { role: "row" },
      cell("", "main", textBlock(claim), judged.length ? foldLater("votes and reasons", () => votesList(judged, juror)) : null),
      ...[...votes].map(([name, vote]) => cell(plain(name), "verdict-cell", verdict(vote.vote), split(vote))));
  };
  const kind = found.names.length > 6 ? "stacked" : "";
  return cardTable("claims " + kind, ["Claim", ...found.names.map(plain)], found.claims, make, "claim");
}

// How many judges gave the label that won, where they did not agree.
function split({ vote, labels }) {
  const agreeing = labels.filter((label) => (label === null ? "n/a" : label) === vote).length;
  return agreeing === labels.length ? null : el("small", {}, agreeing + " of " + labels.length);
}

function votesList(votes, juror) {
  const lines = votes.map(([name, { vote, labels, reasons }]) => {
    const voices = labels.map((label, k) => el("li", {},
      el("span", { class: "juror" }, inline(juror(k, labels.length))), " ",
      label === null ? el("span", { class: "none" }, "left out, counts as n/a") : verdict(label),
      reasons[k] ? el("div", { class: "said" }, textBlock(reasons[k])) : null));
    return el("div", {}, el("dt", {}, inline(plain(name)), " ", verdict(vote)), el("dd", {}, el("ul", {}, ...voices)));
  });
  return el("dl", { class: "votes" }, ...lines);
}

// ---- the weighted score's arithmetic, from the votes and weights that the row has

function claimsScore({ names, claims }, overall, entry) {
  const { weights, labels_left_out, labels_set_by_words, rule, details } = overall.evidence;
  const lines = names.map((name) => {
    const count = { yes: 0, no: 0, "n/a": 0 };
    for (const { votes } of claims) count[votes.get(name).vote] += 1;
    const stated = count.yes + count.no;
    return { name, count, stated, weight: weights[name], mean: stated ? count.yes / stated : null };
  });
  const make = ({ name, count, stated, weight, mean }) => el("tr", {},
    el("th", { scope: "row" }, inline(plain(name))),
    ...["yes", "no", "n/a"].map((label) => el("td", { class: "number" }, count[label].toLocaleString("en"))),
    el("td", { class: "number" }, mean === null ? "no mean, left out" : count.yes + " / " + stated + " = " + mean.toFixed(3)),
    el("td", { class: "number" }, scalar(weight)),
    el("td", { class: "number" }, mean === null ? "" : (weight * mean).toFixed(3)));
  const titles = ["Dimension", ...Object.entries(VERDICTS).map(([label]) => verdict(label)), "mean = yes / (yes + no)", "weight", "weight × mean"];
  const table = el("table", { class: "sum" },
    el("thead", {}, el("tr", {}, ...titles.map((title, i) => el("th", { scope: "col", class: i ? "number" : null }, title)))),
    el("tbody", {}, ...lines.map(make)));
  const region = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "How the score comes about" }, table);
  const present = lines.filter(({ mean }) => mean !== null);
  const sum = (parts) => (parts.length > 1 ? "(" + parts.join(" + ") + ")" : parts.join(""));
  const told = rule ? inline(String(rule))
    : overall.status !== "ok" || !present.length ? el("span", { class: "gap", dir: "auto" }, overall.reason || plain(overall.status))
    : el("span", { dir: "ltr" }, "specificity = " + sum(present.map(({ weight, mean }) => (weight * mean).toFixed(3))) + " / "
      + sum(present.map(({ weight }) => String(weight))) + " = ", el("b", {}, overall.score.toFixed(3)));
  const left = isNumber(labels_left_out) && labels_left_out > 0
    ? el("p", { class: "about" }, counted(labels_left_out, "label") + " left out by a judge; each counts as n/a.") : null;
  const set = isNumber(labels_set_by_words) && labels_set_by_words > 0
    ? el("p", { class: "about" }, counted(labels_set_by_words, "label") + " set by code: the words that the judge went by do not stand in the claim (n/a), or not in the passages (no).") : null;
  return [el("h5", {}, "How the score comes about"), region, el("p", { class: "sum-line" }, told), left, set,
    isObject(details) ? foldLater("Details that the answer states", () => render(details, 1)) : null];
}

VIEWS.push({ family: "score.specificity", make: claimsView });
