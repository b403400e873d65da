/**
 * Keys that work everywhere. Each does what a button on the page does, and they can be switched off:
 * who dictates to a machine, or strays on the keyboard, must be able to (WCAG 2.1.4).
 */

import { find } from "../lib/dom.js";
import { extent } from "../data/blocks.js";
import { offered } from "../state/offered.js";
import { view } from "../views/index.js";

/** @typedef {import("../state/contract.js").Context} Context */

const KEPT = "single-keys";
/** What takes letters, or arrows, for itself. */
const WRITES = "input:not([type=radio], [type=checkbox], [type=range]), textarea, select";
const TAKES_ARROWS = "input, textarea, select, [role=application], [role=grid], [tabindex='0']";

/** @param {Context} context */
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
  /** @type {Record<string, () => void>} */
  const presenter = {
    ArrowLeft: () => step(context, "head", -1),
    ArrowRight: () => step(context, "head", 1),
    ArrowUp: () => step(context, "layer", -1),
    ArrowDown: () => step(context, "layer", 1),
    PageUp: () => step(context, "head", -1),
    PageDown: () => step(context, "head", 1),
  };

  /** @param {KeyboardEvent} event */
  function meant({ key, target }) {
    const within = (/** @type {string} */ those) =>
      target instanceof Element && target.closest(those) !== null;
    if (box.checked && !within(WRITES)) {
      const found = letters[key.toLowerCase()] ?? letters[key.normalize("NFKC")];
      if (found) return found;
    }
    if (!store.get().link.options.projector || !presenter[key]) return null;
    return key.startsWith("Arrow") && within(TAKES_ARROWS) ? null : presenter[key];
  }

  document.addEventListener("keydown", (event) => {
    const { ctrlKey, metaKey, altKey, isComposing } = event;
    if (ctrlKey || metaKey || altKey || isComposing || document.querySelector("dialog[open]"))
      return;
    const task = meant(event);
    if (!task) return;
    event.preventDefault();
    task();
  });
}

/**
 * The next view, or the one before.
 * @param {Context} context
 * @param {number} by
 */
function turn({ store, views, announce, t }, by) {
  const { link, model } = store.get();
  const open = views.filter((one) => offered(one, model));
  const at = open.indexOf(view(link.view));
  const next = open[(Math.max(at, 0) + by + open.length) % open.length];
  store.go({ view: next.id });
  announce(next.name(t));
}

/**
 * Round and round, as on the phone's bar.
 * @param {Context} context
 * @param {"layer" | "head"} which
 * @param {number} by
 */
function step({ store }, which, by) {
  const { model, link } = store.get();
  if (!model) return;
  const count = extent(model, link.block)[`${which}s`];
  if (count) store.go({ [which]: (link[which] + by + count) % count });
}

function recall() {
  try {
    return window.localStorage.getItem(KEPT);
  } catch {
    return null;
  }
}

/** @param {string} value */
function remember(value) {
  try {
    window.localStorage.setItem(KEPT, value);
  } catch {
    // A browser that keeps nothing does what was chosen until the page is left.
  }
}
