// Why an answer is among the worst: its lowest scores, each with what the row says about it.

const MOST_REASONS = 2;
const QUOTE = 260;

// A score's place on its metric's range from 0 (bad) to 1 (good); null where the metric has no direction or no bounds.
function goodness(metric, score) {
  if (metric.lo === null || metric.hi === null || metric.higher_is_better === null || metric.hi <= metric.lo) return null;
  const place = (score - metric.lo) / (metric.hi - metric.lo);
  return metric.higher_is_better ? place : 1 - place;
}

function kindOf(place) {
  return place === null ? "plain" : place >= 2 / 3 ? "good" : place >= 1 / 3 ? "fair" : "poor";
}

// [label, text], where the evidence says what pulled the score down; null where it does not.
const FINDERS = [
  // score.specificity: claims that the passages do not support
  (evidence) => {
    const votes = (claim) => (isObject(claim.dimensions) ? Object.values(claim.dimensions) : [claim]);
    const no = list(evidence.claims).filter((claim) => isObject(claim) && votes(claim).some((vote) => isObject(vote) && vote.vote === "no"));
    return first(no.map((claim) => claim.claim), "Unsupported claim");
  },
  // what an answer leaves out, by metrics that list it
  (evidence) => first(list(evidence.missing || evidence.missing_facts), "Missing fact"),
  (evidence) => first([evidence.most_distracting], "Most distracting fact"),
  (evidence) => {
    const worst = lowest(list(evidence.points).filter((point) => isObject(point) && point.delta < 0), "delta");
    return worst && first([worst.text], "Least relevant point");
  },
  (evidence) => {
    const worst = lowest(list(evidence.questions).filter(isObject), "cosine");
    return worst && first([worst.question], "The answer fits another question");
  },
  // the verdict of the strictest judge in its own words
  (evidence) => {
    const worst = lowest(list(evidence.judges).filter(isObject), "score");
    if (!worst || typeof worst.text !== "string" || !worst.text.trim()) return null;
    return ["Verdict of " + (typeof worst.model === "string" ? worst.model.split("@")[0] : "the judge"), worst.text];
  },
  (evidence) => first([evidence.reason || evidence.rule], "Reason"),
];

function list(value) {
  return Array.isArray(value) ? value : [];
}

function lowest(entries, key) {
  return entries.filter((entry) => isNumber(entry[key])).sort((a, b) => a[key] - b[key])[0] || null;
}

function first(texts, label) {
  const found = texts.map((text) => (isObject(text) ? text.text || text.claim : text)).filter((text) => typeof text === "string" && text);
  return found.length ? [found.length > 1 ? label + " (1 of " + found.length + ")" : label, found[0]] : null;
}

function whyOf(result) {
  if (result.status !== "ok") return result.reason ? ["Not scored", result.reason] : null;
  if (!isObject(result.evidence)) return null;
  for (const find of FINDERS) {
    const found = find(result.evidence);
    if (found) return found;
  }
  return null;
}

// The lowest scores of an answer, at most two of different evidence, and one missing score. None of them is good.
function worstOf(results) {
  const scored = [];
  const missing = [];
  for (const metric of data.metrics) {
    const result = results[metric.name];
    if (!result) continue;
    const place = result.status === "ok" ? goodness(metric, result.score) : null;
    const found = { metric, result, place, why: whyOf(result) };
    if (result.status !== "ok") missing.push(found);
    else if (place !== null && place < 2 / 3) scored.push(found);
  }
  scored.sort((a, b) => a.place - b.place);
  const said = new Set();
  const fresh = scored.filter(({ why }) => !why || (!said.has(why[1]) && said.add(why[1])));
  return [...fresh.slice(0, MOST_REASONS), ...missing.slice(0, 1)];
}

function reasonLine({ metric, result, place, why }) {
  const score = result.status === "ok" ? el("b", {}, shown(metric, result.score)) : el("b", { class: "gap" }, plain(result.status));
  const head = el("span", { class: "reason-head" }, el("span", {}, metric.title), " ", score, place === null ? null : meter(place, kindOf(place)));
  if (!why) return el("div", { class: "why-line" }, head);
  const text = why[1].length > QUOTE ? why[1].slice(0, QUOTE).replace(/\S*$/, "") + "…" : why[1];
  return el("div", { class: "why-line" }, head,
    el("span", { class: "quote" }, el("i", {}, inline(why[0]), ": "), el("bdi", { class: "words" }, text.replace(/\s+/g, " "))));
}
