// Words in which two answers differ, painted over the texts: they are no part of them, so that marks count as without.
const ranges = [];
for (const text of document.querySelectorAll("[data-differences]")) {
  const leaves = [...text.querySelectorAll("[data-at]")];
  for (const place of text.dataset.differences.split(" ").filter(Boolean)) {
    const [start, end] = place.split("-").map(Number);
    for (const leaf of leaves) ranges.push(...inLeaf(leaf, start, end));
  }
}

// The switch holds for the items that follow, in this tab.
const KEY = "longmark.differences";
const choice = document.getElementById("differences");
function paint() {
  if (choice && !choice.checked) CSS.highlights?.delete("differs");
  else CSS.highlights?.set("differs", new Highlight(...ranges));
}
if (choice) {
  try {
    choice.checked = sessionStorage.getItem(KEY) !== "off";
  } catch { /* a browser that keeps nothing: the switch holds for this item */ }
  choice.addEventListener("change", () => {
    paint();
    try {
      sessionStorage.setItem(KEY, choice.checked ? "on" : "off");
    } catch { /* as above */ }
  });
}
paint();

// The part of a leaf that stands between two code points of the source; one whose length differs from its source's is
// painted as a whole.
function inLeaf({ firstChild: node, dataset }, start, end) {
  const points = [...node.data], at = Number(dataset.at), whole = Boolean(dataset.length);
  if (at + Number(dataset.length || points.length) <= start || at >= end) return [];
  const units = (count) => points.slice(0, Math.max(count, 0)).join("").length;
  const range = document.createRange();
  range.setStart(node, whole ? 0 : units(start - at));
  range.setEnd(node, whole ? node.length : units(end - at));
  return [range];
}
