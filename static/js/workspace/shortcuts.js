/**
 * Keyboard shortcuts of the whole page. Each has a button as well, and they can be switched off, as
 * WCAG 2.1.4 requires for speech input and unintended key presses.
 */

import { REMOTE, isPlainKey, arrow } from "../core/figure/pointing.js";
import { el, find, render } from "../lib/dom.js";
import { view } from "../views/index.js";
import { step } from "./model-map.js";

/** @import { PageServices } from "./main-figure.js" */

const STORAGE_KEY = "single-keys";
/** Elements that use letters or arrows themselves. */
const WRITES = "input:not([type=radio], [type=checkbox], [type=range]), textarea, select";
const TAKES_ARROWS = "input, textarea, select, [role=application], [role=grid], [tabindex='0']";

/** @param {PageServices} context */
export function bindKeys(context) {
  const { store } = context;
  const box = /** @type {HTMLInputElement} */ (find("#single-keys"));
  box.checked = recall() !== "off";
  box.addEventListener("change", () => remember(box.checked ? "on" : "off"));

  /** @type {Record<string, () => void>} */
  const letters = {
    "?": () => find("#help").click(),
    p: () => find("#projector").click(),
    "[": () => turn(context, -1),
    "]": () => turn(context, 1),
  };
  /** @param {KeyboardEvent} event */
  function meant(event) {
    const { key, target } = event;
    const within = (/** @type {string} */ those) =>
      target instanceof Element && target.closest(those) !== null;
    if (box.checked && !within(WRITES)) {
      const letterTask = letters[key.toLowerCase()] ?? letters[key.normalize("NFKC")];
      if (letterTask) return letterTask;
    }
    if (!store.get().link.options.projector) return null;
    if (REMOTE[key]) return () => step(store, "head", REMOTE[key]);
    const [down, right] = (!within(TAKES_ARROWS) && arrow(event)) || [0, 0];
    if (!down && !right) return null;
    return () => step(store, down ? "layer" : "head", down + right);
  }

  document.addEventListener("keydown", (event) => {
    if (!isPlainKey(event) || document.querySelector("dialog[open]")) return;
    const task = meant(event);
    if (!task) return;
    event.preventDefault();
    task();
  });
}

/**
 * Go to the next or previous view.
 * @param {PageServices} context
 * @param {number} by
 */
function turn({ store, figure, announce, t }, by) {
  const views = figure.offer();
  const viewIndex = views.indexOf(view(store.get().link.view));
  const next = views[(Math.max(viewIndex, 0) + by + views.length) % views.length];
  store.go({ view: next.id });
  announce(next.name(t));
}

function recall() {
  try {
    return window.localStorage.getItem(STORAGE_KEY);
  } catch {
    return null;
  }
}

/** @param {string} value */
function remember(value) {
  try {
    window.localStorage.setItem(STORAGE_KEY, value);
  } catch {
    // Without storage, the choice applies until the page is left.
  }
}

// The help: keys, and how to read each view. It opens at the current view.

/** @param {PageServices} context */
export function bindHelp({ store, figure, t }) {
  const panel = /** @type {HTMLDialogElement} */ (find("#help-panel"));

  function fill() {
    const { view: present } = store.get().link;
    const sections = figure.offer().map(({ id, name, about }) =>
      el("section", { key: id, className: id === present ? "help-view here" : "help-view" }, el("h4", { tabIndex: -1 }, name(t)), el("p", {}, about(t))),
    );
    render(find("#help-views"), sections);
  }
  fill();
  store.subscribe(figure.offer, fill);

  function open() {
    if (panel.open) return;
    fill();
    panel.showModal();
    const presentSection = panel.querySelector(".help-view.here");
    /** @type {HTMLElement | null | undefined} */ (presentSection?.querySelector("h4"))?.focus({ preventScroll: true });
    presentSection?.scrollIntoView({ block: "center" });
  }

  find("#help").addEventListener("click", open);
  find("#help-close").addEventListener("click", () => panel.close());
  find("#help-print").addEventListener("click", () => window.print());
  // The menu in which it was chosen has closed.
  panel.addEventListener("close", () => {
    const { activeElement } = document;
    if (activeElement === document.body || !activeElement?.checkVisibility()) find("#more").focus();
  });
  // A click outside closes it; clicks inside have another target.
  panel.addEventListener("click", (event) => event.target === panel && panel.close());
  // Escape closes it, and must not remove the pin behind it.
  panel.addEventListener("keydown", (event) => event.stopPropagation());
}
