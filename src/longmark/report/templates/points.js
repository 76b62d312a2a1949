// Points with what each adds (score.segment_attribution): delta, place, and the answer in the new order.

function pointsView(results, _entry, family) {
  const relevance = results.get(family + ".relevance");
  const moved = results.get(family + ".order_changed");
  const evidence = [moved, relevance].filter(Boolean).map((result) => result.evidence)
    .find((one) => isObject(one) && Array.isArray(one.points) && one.points.length);
  need(evidence);
  need(evidence.points.every((one) => isObject(one) && typeof one.text === "string" && isNumber(one.point)));
  need(evidence.points.every((one) => one.delta === undefined || isNumber(one.delta)));
  need(isTextOrNull(evidence.intro) && isTextOrNull(evidence.closing) && isTextOrNull(evidence.rewritten_answer));
  const points = evidence.points;
  const measured = points.every((one) => one.delta !== undefined);
  const order = isOrder(evidence.new_order, points) ? evidence.new_order : null;
  const whole = relevance && relevance.status === "ok" ? relevance.score : evidence.relevance;
  const changed = order && order.some((point, place) => point !== points[place].point);
  const content = [
    el("p", { class: "about" }, ...pointsSay(measured, isNumber(whole) ? whole : null)),
    pointsTable(evidence, measured, order),
    order ? el("p", { class: "about" }, changed ? "Sorted by delta, the points come in the order " + order.join(", ") + "."
      : "Sorted by delta, the points keep their order.") : null,
    moved && moved.status !== "ok" && moved.reason ? el("p", { class: "about gap", dir: "auto" }, moved.reason) : null,
    changed && evidence.rewritten_answer
      ? foldLater("The answer with its points in the new order", () => textBlock(evidence.rewritten_answer)) : null,
  ];
  return { title: "Points and what each adds", count: counted(points.length, "point"), content,
    covers: [family + ".relevance", family + ".order_changed"] };
}

function isOrder(order, points) {
  return Array.isArray(order) && order.length === points.length && points.every(({ point }) => order.includes(point));
}

function pointsSay(measured, whole) {
  const raw = whole === null ? "" : "The reranker gives the answer " + signed(whole, 3) + ". ";
  return [raw + (measured
    ? "A point’s delta is that less what the answer gets without the point: + says that the point makes the answer more relevant to the question, − less."
    : "No point was left out, so none has a delta.")];
}

function pointsTable({ intro, points, closing, without_effect }, measured, order) {
  const idle = new Set(Array.isArray(without_effect) ? without_effect : []);
  const scale = scaleOf(points.map(({ delta }) => delta || 0));
  const lines = points.map(({ point, text, delta }, place) => ({ name: "point " + point, text,
    delta: measured ? [signedBar(delta, scale), idle.has(point) ? el("small", {}, "no effect") : null] : [],
    place: order ? placeOf(place + 1, order.indexOf(point) + 1) : "" }));
  if (intro) lines.unshift({ name: "intro", text: intro, delta: ["no delta: not a point"], place: "stays first", aside: true });
  if (closing) lines.push({ name: "closing part", text: closing, delta: ["set apart, not scored"], place: "stays last", aside: true });
  const make = ({ name, text, delta, place, aside }) => el("tr", { role: "row", class: aside ? "aside" : null },
    cell("", "name", name), cell("", "main", textBlock(text)),
    ...(measured ? [cell("delta", "delta-cell", ...delta)] : []), ...(order ? [cell("place", "place", place)] : []));
  const titles = ["Part", "Text", ...(measured ? ["Delta"] : []), ...(order ? ["Place by delta"] : [])];
  return cardTable("points", titles, lines, make, "part of the answer", "parts of the answer");
}

function placeOf(before, after) {
  if (before === after) return before + ", stays";
  return el("span", {}, before + " → " + after, " ", el("span", { class: "way" }, after < before ? "(up)" : "(down)"));
}

VIEWS.push({ family: "score.segment_attribution", make: pointsView });
