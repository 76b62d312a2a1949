// On a narrow screen the answers of a pair stand side by side, one on the screen: a swipe or its button shows the other.
// Both stay in the page, so that marks, selections and screen readers see no difference. Without this module the buttons
// are links to the answers.
const answers = document.querySelector(".answers");
const links = [...document.querySelectorAll(".sides a")];
const parts = answers ? [...answers.children] : [];

function tell() {
  const at = Math.round(Math.abs(answers.scrollLeft) / Math.max(answers.clientWidth, 1)); // below 0 from right to left
  links.forEach((link, place) => link.setAttribute("aria-current", String(place === at)));
}
// Below a short answer there is nothing to read: its beginning is shown.
function back() {
  const at = links.findIndex((link) => link.getAttribute("aria-current") === "true");
  const end = parts[at]?.lastElementChild.getBoundingClientRect().bottom;
  if (matchMedia("(max-width: 40rem)").matches && end < 120) parts[at].scrollIntoView({ block: "start" });
}
for (const [place, link] of links.entries())
  link.addEventListener("click", (event) => {
    event.preventDefault();
    if (link.getAttribute("aria-current") === "true") back();
    else answers.scrollTo({ left: parts[place].offsetLeft });
  });
answers?.addEventListener("scroll", tell, { passive: true });
answers?.addEventListener("scrollend", back);
if (answers) tell();
