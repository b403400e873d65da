// Runs before anything is drawn, so that a chosen theme does not flash in as the other.
try {
  const chosen = localStorage.getItem("theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
} catch {
  // Without storage the system's theme it is.
}
