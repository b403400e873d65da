/** The sentences of a ranking or a search, and the head's attention in the chosen one. */

import { format } from "../core/store/link.js";
import { placeOf } from "../core/wire/model.js";
import { bcp47 } from "../core/wire/tokens.js";
import { el, find, h, render } from "../lib/dom.js";
import { two } from "../lib/numbers.js";
import { createFigure, linkTo, storeOf } from "../views/create-figure.js";
import { OPTIONS } from "../views/index.js";

/** @import { IndexedSentence } from "../core/wire/schemas.d.ts" */
/** @import { Translate } from "../lib/i18n.js" */

/** @typedef {{query: number, key: number}} Cell */
/** @typedef {{sentence: IndexedSentence, value: number, pair?: [string, string], cell: Cell | null}} Item */

/**
 * @param {Pick<import("../core/figure/types.js").PageContext, "t">} page
 * @param {(item: Item | null) => void} onShow  null: nothing was found
 */
export function createExampleList({ t }, onShow) {
  const root = find("#found");
  const words = find("#found-says");
  /** @type {Item[]} */
  let items = [];
  let chosen = 0;

  root.addEventListener("click", ({ target }) => {
    const button = /** @type {Element} */ (target).closest("button");
    if (button) choose(Number(button.dataset.item));
  });

  /** @param {number} next */
  function choose(next) {
    chosen = next;
    draw();
    onShow(items[chosen]);
  }

  function draw() {
    render(
      root,
      items.map(({ sentence, value, pair }, i) =>
        el(
          "li",
          { key: i },
          el(
            "button",
            { type: "button", "data-item": String(i), "aria-pressed": String(i === chosen) },
            el("span", { className: "value" }, two(value)),
            el("span", {}, pair ? arrow(t, pair) : "", el("span", { lang: langOf(sentence.source) }, sentence.source)),
          ),
        ),
      ),
    );
  }

  return {
    /** @param {{says: string, items: Item[]}} result */
    show(result) {
      items = result.items;
      render(words, result.says);
      if (items.length) return choose(0);
      render(root);
      onShow(null);
    },
  };
}

/** @param {Translate} t @param {[string, string]} pair */
const arrow = (t, [from, to]) => el("span", {}, el("b", { className: "from", lang: langOf(from) }, from.trim()), " → ", el("b", { className: "to", lang: langOf(to) }, to.trim()), t(": "));

/** @param {string} text */
const langOf = (text) => (/\p{Script=Han}/u.test(text) ? bcp47("zh") : "en");

/** @param {Translate} t @param {import("../core/wire/schemas.d.ts").HeadExamplesReply} found */
export const rankingResult = (t, { examples }) => ({
  says: t("From the top of the ranking to the bottom, a sentence at each tenth."),
  items: examples.map(({ sentence, value }) => ({ sentence, value, cell: null })),
});

/** @param {Translate} t @param {import("../core/wire/schemas.d.ts").FoundRowsReply} reply */
export const searchResult = (t, { rows, sentences, of, found: foundRows }) => ({
  says: summary(t, rows, sentences, of),
  items: foundRows.map(({ sentence, query, key, weight }) => ({
    sentence,
    value: weight,
    pair: /** @type {[string, string]} */ ([query.text, key.text]),
    cell: { query: query.index, key: key.index },
  })),
});

/** @param {Translate} t @param {number} rows @param {number} sentences @param {number} of */
function summary(t, rows, sentences, of) {
  if (!rows) return t("No row of this head matches.");
  if (rows === 1) return t("1 row in 1 of {of} sentences.", { of });
  return t("{rows} rows in {sentences} of {of} sentences; the largest weights first.", { rows, sentences, of });
}

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/store/data-sources.js").Source} source
 * @param {import("../core/wire/model.js").ModelInfo} info
 * @param {{model: string, place: string, head: number, lang: string}} at
 */
export function exampleFigure(page, source, info, { model, place, head, lang }) {
  const headPlace = { model, ...(placeOf(info, place) ?? { block: "", layer: 0 }), head };
  const store = storeOf(linkTo({ ...headPlace, lang, view: "attention" }));
  const open = /** @type {HTMLAnchorElement} */ (find("#open"));
  store.subscribe(({ link }) => link, ({ link }) => (open.href = `/?${format(link, OPTIONS)}`));
  const [root, panel] = [find("#figure"), find("#shown")];
  const message = h("span", {});
  const retry = h("button", { type: "button", className: "button" }, page.t("Try again"));
  const line = h("p", { className: "problem", role: "alert", hidden: true }, message, " ", retry);
  root.before(line);
  /** @type {ReturnType<typeof createFigure> | null} */
  let figure = null;
  return {
    /** @param {Item | null} item  null: none, and no earlier one is left standing */
    show(item) {
      panel.hidden = !item;
      if (!item) return;
      const { sentence, cell } = item;
      const { source: text, direction, target } = sentence;
      const pinned = cell ?? { query: null, key: null };
      store.go({ source: text, direction, target, ...headPlace, ...pinned });
      open.hidden = false;
      if (figure) return;
      figure = createFigure({ root, store, source, page, caption: find("#caption"), status: { root, message, line, retry } });
      void figure.run();
    },
  };
}
