// Runs before the first paint, so that neither the wrong theme nor the opening flashes.
try {
  const chosen = localStorage.getItem("theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
  // A returning reader gets the workspace (opening/), unless a link asks for the opening; so does a
  // link to anything else, which a page in a folder does not know before.
  const { dataset } = document.documentElement;
  const link = new URLSearchParams(location.hash.slice(1) || location.search);
  const shows = [...link.keys()].some((key) => key !== "lang");
  if (dataset.opening === "new" && link.get("opening") !== "1" && (shows || localStorage.getItem("visited"))) delete dataset.opening;
} catch {
  // Without storage, use the system's theme.
}
