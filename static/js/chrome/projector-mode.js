/** Projector mode: the sentence, the figure and what it says, in letters for the last row. */

import { find } from "../lib/dom.js";
import { el, render } from "../lib/render.js";
import { languages } from "../data/tokens.js";
import { view } from "../views/index.js";

/** @typedef {import("./types.js").Desk} Desk */

/** @param {Desk} context */
export function bindProjector(context) {
  const { store, announce, restyle, t } = context;
  const root = document.documentElement;
  const enter = find("#projector");
  const leave = find("#projector-leave");
  const on = () => store.get().link.options.projector === true;

  /** @param {boolean} wanted */
  function turn(wanted) {
    store.choose({ projector: wanted });
    // The button that was pressed is gone.
    (wanted ? find("#stage") : find("#more")).focus();
    announce(
      wanted
        ? t("Projector mode. Arrows change head and layer, Escape leaves.")
        : t("Projector mode left."),
    );
  }

  function show() {
    const wanted = on();
    if (root.hasAttribute("data-projector") !== wanted) {
      root.toggleAttribute("data-projector", wanted);
      enter.setAttribute("aria-pressed", String(wanted));
      restyle();
    }
    if (wanted) say(context);
  }

  enter.addEventListener("click", () => turn(!on()));
  leave.addEventListener("click", () => turn(false));
  // Before the pin is let go: with something pinned, Escape does that first.
  const escape = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape" || event.isComposing || !on()) return;
    if (document.querySelector("dialog[open]")) return;
    const { query, key } = store.get().link;
    if (query === null && key === null) turn(false);
    else find("#stage").focus();
  };
  document.addEventListener("keydown", escape, { capture: true });
  window.addEventListener("resize", () => on() && restyle());
  store.subscribe((page) => {
    const { link, trace } = page;
    return [link, trace, context.figure.offer().find(({ id }) => id === link.view)?.subject?.(page)?.trace];
  }, show);
  show();
}

/** @param {Desk} context  The sentence and what came of it, in their languages. */
function say({ store, t }) {
  const page = store.get();
  const shown = view(page.link.view);
  const { link } = page;
  const { source, trace } = shown.subject?.(page) ?? { source: link.source, trace: page.trace };
  const [from, to] = languages(trace?.direction ?? link.direction ?? "");
  const written = [
    el("span", { "aria-hidden": "true" }, " → "),
    el("span", { lang: to }, trace?.output.text ?? "…"),
  ];
  const writes = page.model?.texts.length !== 1;
  render(find("#projector-sentence"), el("span", { lang: from }, source), writes ? written : []);
  find("#projector-view").textContent = shown.name(t);
}
