// Runs before the first paint, so that neither the wrong theme nor the opening flashes.
try {
  const chosen = localStorage.getItem("theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
  // A returning reader gets the workspace (opening/), unless a link asks for the opening.
  const { dataset } = document.documentElement;
  if (dataset.opening === "new" && localStorage.getItem("visited")) delete dataset.opening;
} catch {
  // Without storage, use the system's theme.
}
