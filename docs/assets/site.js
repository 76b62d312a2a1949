// What scrolls sideways can be reached by keyboard (WCAG 2.1.1).
const reach = () => {
  for (const one of document.querySelectorAll("pre > code, .md-typeset__scrollwrap"))
    one.tabIndex = one.scrollWidth > one.clientWidth ? 0 : -1
}
addEventListener("load", reach)
addEventListener("resize", reach)
// A cell of figures stays on one line.
addEventListener("DOMContentLoaded", () => {
  for (const cell of document.querySelectorAll("td"))
    if (/^(none|[\d.,()/%\s])+$/.test(cell.textContent)) cell.style.whiteSpace = "nowrap"
})
