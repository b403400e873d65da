/** The help: keys, and how to read each view. It opens at the current view. */

import { find } from "../lib/dom.js";
import { el, render } from "../lib/render.js";

/** @import { Desk } from "./types.js" */

/** @param {Desk} context */
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
    const here = panel.querySelector(".help-view.here");
    /** @type {HTMLElement | null | undefined} */ (here?.querySelector("h4"))?.focus({ preventScroll: true });
    here?.scrollIntoView({ block: "center" });
  }

  find("#help").addEventListener("click", open);
  find("#help-close").addEventListener("click", () => panel.close());
  find("#help-print").addEventListener("click", () => window.print());
  // A click outside closes it; clicks inside have another target.
  panel.addEventListener("click", (event) => event.target === panel && panel.close());
  // Escape closes it, and must not remove the pin behind it.
  panel.addEventListener("keydown", (event) => event.stopPropagation());
}
