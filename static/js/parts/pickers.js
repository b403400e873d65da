/** Layer and head pickers that are pictures: each choice shows the weights it would show. */

import { find, h } from "../dom.js";
import { attention, extent, masked, place } from "../blocks.js";
import { thumbnail } from "../paint.js";
import { sequential } from "../scale.js";
import { mean, plane } from "../wire.js";

/** @typedef {import("../main.js").Context} Context */
/** @typedef {import("../store.js").Page} Page */
/** @typedef {"layer" | "head"} Which */

/** @param {Context} context */
export function bindPickers(context) {
  const { store, t } = context;
  const layers = picker("layer", (n) => t("Layer {n}", { n }));
  const heads = picker("head", (n) => t("Head {n}", { n }));

  /** @param {Which} which @param {(n: number) => string} name */
  function picker(which, name) {
    const list = find(`#${which}s`);
    list.addEventListener("change", (event) => {
      const { value } = /** @type {HTMLInputElement} */ (event.target);
      store.go({ [which]: Number(value) });
    });
    /** @param {number} count */
    return (count) => {
      const options = [...list.querySelectorAll("label")];
      if (options.length !== count)
        list.replaceChildren(
          ...Array.from({ length: count }, (_, i) => option(which, i, name(i + 1))),
        );
      return [...list.querySelectorAll("label")];
    };
  }

  function show() {
    const { trace, link } = store.get();
    if (!trace) return;
    const shade = {
      stops: sequential(context.theme()),
      range: /** @type {[number, number]} */ ([0, 1]),
    };
    const size = extent(trace, link.block);
    layers(size.layers).forEach((label, layer) => {
      paint(label, layer === link.layer, layerMean(trace, { ...link, layer }), shade);
    });
    heads(size.heads).forEach((label, head) => {
      paint(label, head === link.head, attention(trace, { ...link, head }), shade);
    });
  }

  store.subscribe((page, previous) => {
    const { link } = page;
    const moved =
      link.block !== previous.link.block ||
      link.layer !== previous.link.layer ||
      link.head !== previous.link.head;
    if (moved || page.trace !== previous.trace) show();
  });
  context.onTheme(show);
  steppers(store);
}

/**
 * @param {Which} which
 * @param {number} i
 * @param {string} name
 */
function option(which, i, name) {
  return h(
    "label",
    { className: "thumb", title: name },
    h("input", {
      type: "radio",
      name: which,
      value: String(i),
      className: "hidden",
      "aria-label": name,
    }),
    h("canvas", { "aria-hidden": "true" }),
    h("span", { className: "number", "aria-hidden": "true" }, String(i + 1)),
  );
}

/**
 * @param {HTMLLabelElement} label
 * @param {boolean} chosen
 * @param {import("../wire.js").Matrix | null} matrix
 * @param {import("../paint.js").Shade} shade
 */
function paint(label, chosen, matrix, shade) {
  /** @type {HTMLInputElement} */ (find("input", label)).checked = chosen;
  if (matrix) thumbnail(/** @type {HTMLCanvasElement} */ (find("canvas", label)), matrix, shade);
}

/**
 * @param {import("../wire.js").Trace} trace
 * @param {import("../url.js").State} link
 */
function layerMean(trace, link) {
  const weights = trace.tensors[place(link, "weights")];
  if (!weights) return null;
  const mask = trace.tensors[place(link, "mask")];
  return mask ? masked(mean(weights), plane(mask).values) : mean(weights);
}

/**
 * The phone's bar: one step back or on, in reach of a thumb.
 * @param {import("../store.js").Store} store
 */
function steppers(store) {
  for (const which of /** @type {Which[]} */ (["layer", "head"])) {
    const bar = find(`.stepper[data-of="${which}"]`);
    for (const button of bar.querySelectorAll("button")) {
      button.addEventListener("click", () => {
        const { trace, link } = store.get();
        if (!trace) return;
        const count = extent(trace, link.block)[`${which}s`];
        store.go({ [which]: (link[which] + Number(button.dataset.step) + count) % count });
      });
    }
    const show = () => (find("output", bar).textContent = String(store.get().link[which] + 1));
    store.subscribe(show);
    show();
  }
}
