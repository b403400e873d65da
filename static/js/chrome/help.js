/** The help: keys, and how to read each view; it opens on the view that is on the page. */

import { find, h } from "../lib/dom.js";

/** @typedef {import("./types.js").Desk} Desk */

/** @param {Desk} context */
export function bindHelp({ store, figure, t }) {
  const panel = /** @type {HTMLDialogElement} */ (find("#help-panel"));
  const about = () => figure.offer().map((view) => ({ view, ...section(view.name(t), view.about(t)) }));
  let sections = about();
  const fill = () => find("#help-views").replaceChildren(...sections.map(({ element }) => element));
  fill();
  store.subscribe(figure.offer, () => ((sections = about()), fill()));

  function open() {
    if (panel.open) return;
    const { view: present } = store.get().link;
    panel.showModal();
    for (const { view, element, title } of sections) {
      const here = view.id === present;
      element.classList.toggle("here", here);
      if (!here) continue;
      title.focus({ preventScroll: true });
      element.scrollIntoView({ block: "center" });
    }
  }

  find("#help").addEventListener("click", open);
  find("#help-close").addEventListener("click", () => panel.close());
  find("#help-print").addEventListener("click", () => window.print());
  // A click beside it closes it; one inside has a target of its own.
  panel.addEventListener("click", (event) => event.target === panel && panel.close());
  // Escape closes it, and must not let go of what is pinned behind it.
  panel.addEventListener("keydown", (event) => event.stopPropagation());
}

/** @param {string} name @param {string} about */
function section(name, about) {
  const title = h("h4", { tabIndex: -1 }, name);
  return { title, element: h("section", { className: "help-view" }, title, h("p", {}, about)) };
}
