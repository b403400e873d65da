/** The button for the light and dark themes, and the light theme on paper. */

/**
 * @param {Window} window
 * @param {HTMLButtonElement} button
 * @param {() => void} changed
 */
export function bindTheme(window, button, changed) {
  const root = window.document.documentElement;
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  const show = () => {
    button.setAttribute("aria-pressed", String(dark()));
    changed();
  };
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    remember(window, root.dataset.theme);
    show();
  });
  system.addEventListener("change", show);
  button.setAttribute("aria-pressed", String(dark()));
  bindPaper(window, changed);
}

/**
 * @param {Window} window
 * @param {string} name
 */
function remember(window, name) {
  try {
    window.localStorage.setItem("theme", name);
  } catch {
    // Without storage, the choice still applies to this page.
  }
}

/**
 * On paper, a page has light colours whatever its theme, and its figures are drawn again: for the
 * width of the sheet, where the page's CSS gives one to `[data-paper]`.
 * @param {Window} window
 * @param {() => void} redraw
 */
function bindPaper(window, redraw) {
  const { dataset } = window.document.documentElement;
  /** @type {string | undefined} */
  let chosen;
  window.addEventListener("beforeprint", () => {
    chosen = dataset.theme;
    Object.assign(dataset, { theme: "light", paper: "" });
    redraw();
  });
  window.addEventListener("afterprint", () => {
    if (chosen) dataset.theme = chosen;
    else delete dataset.theme;
    delete dataset.paper;
    redraw();
  });
}
