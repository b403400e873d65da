/** The sentence box: runs while typing, and at once on Enter. */

import { find, h } from "../lib/dom.js";
import { bindTyping, grow } from "../core/figure/controls.js";
import { bothWays } from "../core/wire/model-description.js";
import { bcp47 } from "../core/wire/tokens.js";
import { exampleName, examplesOf, taskTakes } from "../core/store/examples-and-tasks.js";
import { isFixed } from "../core/store/share-contents.js";
import { withoutPrefix } from "../core/store/link-options.js";
import { markCutOff } from "./token-chips.js";

/** @import { PageServices } from "./main-figure.js" */

/**
 * Remove what belonged to the previous sentence: its target, prefix and padding.
 * @param {import("../core/store/link.js").State} link
 */
const afresh = ({ decode }) => ({ target: null, pad_to: null, decode: withoutPrefix(decode) });

/**
 * A box of the page's text, or of the second of two texts.
 * @param {string} selector
 * @param {{send: (text: string) => void, runNow: () => void}} actions
 */
function createTextBox(selector, { send, runNow }) {
  const box = /** @type {HTMLTextAreaElement} */ (find(selector));
  const showCutOff = markCutOff(box, "y");
  let sentText = "";
  const typed = bindTyping(box, { submit: sendText, onEnter: runNow, onInput: fit });
  window.addEventListener("resize", () => grow(box));

  /** A text of several lines shows them (css/workspace/sentence.css). */
  function fit() {
    box.toggleAttribute("data-lines", box.value.trimEnd().includes("\n"));
    grow(box);
    showCutOff();
  }

  function sendText() {
    typed.cancel();
    sentText = box.value;
    send(sentText);
  }

  return {
    box,
    sendText,

    /** @param {string} text  of the link */
    show(text) {
      if (text === sentText) return;
      typed.cancel();
      sentText = box.value = text;
      fit();
    },
  };
}

/** @param {PageServices} context */
export function bindSentence({ store, figure, t }) {
  const direction = /** @type {HTMLSelectElement} */ (find("#direction"));
  const first = createTextBox("#source", { send: (source) => store.go({ source, ...afresh(store.get().link) }, "typed"), runNow });
  const second = createTextBox("#pair", { send: sendPair, runNow });
  const { box } = first;
  find("#run").addEventListener("click", runNow);
  direction.addEventListener("change", () =>
    store.go({ direction: direction.value || null, ...afresh(store.get().link) }),
  );

  /** @param {string} text  Spaces alone are no text. */
  function sendPair(text) {
    store.go({ pair: text.trim() ? text : null, ...afresh(store.get().link) }, "typed");
  }

  function runNow() {
    const before = store.get().link;
    first.sendText();
    if (!second.box.hidden) second.sendText();
    if (store.get().link === before) figure.run();
  }

  function show() {
    const page = store.get();
    const { link, model, trace } = page;
    first.show(link.source);
    second.box.hidden = !model?.capabilities.includes("pair") || (isFixed(page) && !link.pair);
    second.box.readOnly = isFixed(page);
    if (!second.box.hidden) second.show(link.pair ?? "");
    direction.hidden = model !== null && !bothWays(model);
    direction.value = link.direction ?? "";
    const detected = [...direction.options].find(
      ({ value }) => value === trace?.direction && !link.direction,
    );
    direction.options[0].text = detected
      ? t("Detected: {direction}", { direction: detected.text })
      : t("Detect");
    box.readOnly = direction.disabled = isFixed(page);
    box.lang = bcp47((link.direction ?? (trace?.direction || link.lang)).split("-")[0]);
  }

  const typical = box.placeholder;
  store.subscribe(({ model }) => [model], () => {
    const { model } = store.get();
    box.placeholder = model?.zoo ? taskTakes(t, model.zoo.task) : typical;
    offer(store, t);
  });
  offer(store, t);
  store.subscribe(({ link, model, trace, share, live }) => [link, model, trace, share, live], show);
  show();
}

/** @param {import("../core/store/store.js").Store} store @param {PageServices["t"]} t */
function offer(store, t) {
  const { model, link: now } = store.get();
  find("#examples").replaceChildren();
  for (const { text, lang, shows } of examplesOf(model, now.lang)) {
    const sentText = h("span", { lang: bcp47(lang) }, text);
    const button = h("button", { type: "button", className: "example-in-list" }, shows ? h("b", {}, exampleName(shows, t)) : "", " ", sentText);
    const link = { source: text, pair: null, direction: null, query: null, key: null };
    button.addEventListener("click", () => store.go({ ...link, ...afresh(store.get().link) }, "chosen"));
    find("#examples").append(h("li", {}, button));
  }
}
