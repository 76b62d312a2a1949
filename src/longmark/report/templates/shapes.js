// A shape of a graph of statements, tapped, focused or pointed at: its text below the graph, its lines set off.
function choose(event) {
  const shape = event.target.closest && event.target.closest(".statements .shape");
  if (!shape) return;
  const graph = shape.closest(".graph");
  graph.querySelector(".chosen").textContent = shape.querySelector("title").textContent;
  for (const line of graph.querySelectorAll(".link[data-ends]")) line.classList.toggle("on", line.dataset.ends.split(" ").includes(shape.dataset.label));
}

for (const kind of ["click", "focusin", "pointerover"]) document.addEventListener(kind, choose);
