// Questions made from the answer (score.answer_relevance), each with its cosine, and the masked answer.

function questionsView(results, _entry, family) {
  const content = [];
  const covers = [];
  let count = 0;
  let before = "";
  for (const part of ["masked", "plain"]) {
    const result = results.get(family + "." + part);
    if (!result || !isObject(result.evidence) || !Array.isArray(result.evidence.questions) || !result.evidence.questions.length) continue;
    const { questions, masked_answer } = result.evidence;
    need(questions.every((one) => isObject(one) && typeof one.question === "string" && isNumber(one.cosine)));
    need(isTextOrNull(masked_answer));
    covers.push(family + "." + part);
    const said = JSON.stringify(questions.map(({ question, cosine }) => [question, cosine]));
    const again = said === before;
    before = said;
    count += again ? 0 : questions.length;
    content.push(el("section", { class: "passage" },
      el("h5", {}, part === "masked" ? "From the masked answer" : "From the answer as it is"),
      masked_answer ? maskedAnswer(result.evidence) : null,
      again ? el("p", { class: "about" }, "The same questions with the same cosines.") : questionsTable(questions),
      result.status === "ok" ? el("p", { class: "sum-line" }, "mean of " + counted(questions.length, "cosine") + " = ", el("b", {}, result.score.toFixed(3).replace("-", "−"))) : null));
  }
  need(covers.length);
  content.unshift(el("p", { class: "about" }, "The judge wrote questions that the answer would answer; the cosine says how alike each is to the question that was asked (1: the same)."));
  return { title: "Questions the answer would answer", count: counted(count, "question"), content, covers };
}

function maskedAnswer({ masked_answer, masked_by_model, masked_by_code, masked_phrases_not_found }) {
  const slots = isObject(masked_by_code) ? Object.entries(masked_by_code).filter(([, n]) => isNumber(n)) : [];
  const placeholders = new Set(slots.map(([slot]) => "[" + slot.toUpperCase() + "]"));
  const put = (block, text) => {
    const parts = text.split(/(\[[^\[\]\n]{1,80}\])/);
    block.replaceChildren(...parts.map((part) => (placeholders.has(part) ? el("mark", { class: "placeholder" }, part) : part)));
  };
  const byCode = slots.filter(([, n]) => n > 0).map(([slot, n]) => plain(slot) + " " + n).join(", ");
  const told = (isNumber(masked_by_model) ? counted(masked_by_model, "placeholder") + " by the model" : "")
    + (masked_phrases_not_found ? " (" + counted(masked_phrases_not_found, "phrase") + " that it named " + (masked_phrases_not_found === 1 ? "is" : "are") + " not in the answer)" : "")
    + (slots.length ? "; by code, for what the model left of the profile: " + (byCode || "none") : "");
  return el("div", { class: "masked" }, textBlock(masked_answer, put), el("p", { class: "about" }, told));
}

function questionsTable(questions) {
  const scale = scaleOf([...questions.map(({ cosine }) => cosine), 1]);
  scale.places = 3;
  const make = ({ question, cosine }) => el("tr", { role: "row" },
    cell("", "main", textBlock(question)), cell("cosine", "delta-cell", signedBar(cosine, scale)));
  return cardTable("questions", ["Question", "Cosine"], questions, make, "question");
}

VIEWS.push({ family: "score.answer_relevance", make: questionsView });
