/** Where the views stand: tabs for them, the kind of attention, and the one that is open. */

import { blocks } from "../data/blocks.js";
import { find, h } from "../lib/dom.js";
import { diverging, gradient, sequential } from "../draw/scale.js";
import { blockName } from "../state/names.js";
import { offered } from "../state/offered.js";
import { keyOf } from "../state/questions.js";
import { view } from "../views/index.js";
import { bindUnfrozen } from "./not-frozen.js";

/** @typedef {import("../state/contract.js").Context} Context */
/** @typedef {import("../state/store.js").Page} Page */

/** @param {Context} context */
export function bindStage(context) {
  const { store } = context;
  const root = find("#view");
  let shown = view(store.get().link.view);
  let mounted = shown.mount(context, root);

  function redraw() {
    const next = view(store.get().link.view);
    if (next !== shown) {
      mounted.destroy();
      root.replaceChildren();
      shown = next;
      surround(shown);
      mounted = shown.mount(context, root);
    }
    mounted.draw();
  }

  surround(shown);
  bindUnfrozen(context, root);
  context.shown = () => mounted;
  tabs(context);
  kinds(context);
  store.subscribe(drawn, redraw);
  store.subscribe(pointed, () => mounted.light());
  store.watch(() => mounted.light());
  legends(context);
  context.onTheme(() => {
    legends(context);
    redraw();
  });
  context.onResize(redraw);
}

/** @param {Context} context */
function legends({ theme }) {
  find(".ramp.attention").style.backgroundImage = gradient(sequential(theme()));
  find(".ramp.signed").style.backgroundImage = gradient(diverging(theme()));
}

/**
 * What stands around a view: its stylesheets read it off the root.
 * @param {import("../state/contract.js").View} view
 */
function surround({ id, frame: { rail, inspector, caption, legend } }) {
  const { dataset } = document.documentElement;
  Object.assign(dataset, { view: id, rail, legend });
  dataset.inspector = inspector ? "yes" : "no";
  dataset.caption = caption ? "yes" : "no";
}

/** What a view draws: the run, the place in it, and the answers that it asked for. @param {Page} page */
function drawn(page) {
  const { link, trace, model, answers, status, problem } = page;
  const asked = (trace && view(link.view).asks?.(page)) ?? [];
  const { view: id, block, layer, head, options } = link;
  const lacks = status === "ready" && problem;
  return [trace, model, lacks, id, block, layer, head, options, ...asked.map((question) => answers[keyOf(question)])];
}

/** What it lights without being drawn anew. @param {Page} page */
function pointed({ link: { view: _view, block: _block, layer: _layer, head: _head, options: _options, ...rest } }) {
  return Object.values(rest);
}

/** @param {Context} context */
function tabs({ store, t, views }) {
  for (const list of document.querySelectorAll(".views")) {
    const name = `view-${list.id}`;
    list.append(...views.map(({ id, name: says }) => choice(name, id, says(t))));
    choose(list, ({ link }) => view(link.view).id, (id) => store.go({ view: id }), store);
    store.subscribe(({ model }) => model, ({ model }) => {
      for (const radio of radios(list)) labelOf(radio).hidden = !offered(view(radio.value), model);
    });
  }
}

/** @param {Context} context */
function kinds({ store, t }) {
  const go = (/** @type {string} */ block) => store.go({ block, query: null, key: null });
  for (const list of document.querySelectorAll(".blocks")) {
    choose(list, ({ link }) => link.block, go, store);
    const fill = () => {
      const { model, link } = store.get();
      const all = blocks(model);
      if (!all.length) return;
      const there = radios(list).map(({ value }) => value);
      if (String(there) !== String(all.map(({ id }) => id))) {
        radios(list).forEach((radio) => labelOf(radio).remove());
        list.append(...all.map(({ id }) => choice(`block-${list.id}`, id, blockName(id, t))));
      }
      const { blocks: suits = () => true } = view(link.view);
      radios(list).forEach((radio, i) => {
        radio.disabled = !suits(all[i]);
        radio.checked = radio.value === link.block;
      });
    };
    store.subscribe(({ model, link }) => [model, link.view], fill);
    fill();
  }
}

/** @param {string} name @param {string} value @param {string} says */
function choice(name, value, says) {
  return h(
    "label",
    {},
    h("input", { type: "radio", name, value, className: "hidden" }),
    h("span", {}, says),
  );
}

/** @param {Element} list @returns {HTMLInputElement[]} */
const radios = (list) => [...list.querySelectorAll("input")];
/** @param {HTMLInputElement} radio @returns {HTMLElement} */
const labelOf = (radio) => /** @type {HTMLElement} */ (radio.closest("label"));

/**
 * @param {Element} list
 * @param {(page: Page) => string} present
 * @param {(value: string) => void} go
 * @param {import("../state/store.js").Store} store
 */
function choose(list, present, go, store) {
  const show = () => {
    for (const radio of radios(list)) {
      const chosen = radio.value === present(store.get());
      if (chosen && !radio.checked) reveal(list, labelOf(radio));
      radio.checked = chosen;
    }
  };
  list.addEventListener("change", (event) =>
    go(/** @type {HTMLInputElement} */ (event.target).value),
  );
  store.subscribe(present, show);
  show();
}

/** A list that is wider than its window moves so that a choice stands in its middle. @param {Element} list @param {Element} label */
function reveal(list, label) {
  const [outer, inner] = [list, label].map((element) => element.getBoundingClientRect());
  list.scrollLeft += (inner.left + inner.right - outer.left - outer.right) / 2;
}
