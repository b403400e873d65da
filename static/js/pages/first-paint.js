// Runs before anything is drawn, so that nothing flashes in that goes at once: the other theme, the opening.
try {
  const chosen = localStorage.getItem("theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
  // Who has been inside gets the instrument (chrome/opening), unless a link asks for the opening.
  const { dataset } = document.documentElement;
  if (dataset.opening === "new" && localStorage.getItem("visited")) delete dataset.opening;
} catch {
  // Without storage the system's theme it is.
}
