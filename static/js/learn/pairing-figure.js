/** A sentence and its translation word by word with glosses, for a link with `opening=1`. */

import { Problem } from "../core/wire/problem.js";
import { request } from "../core/wire/request.js";
import { createAsker } from "../core/wire/connection.js";
import { find, h } from "../lib/dom.js";
import { render } from "../lib/render.js";
import { createPairing, lookingFrom, openingNeeds, openingOf } from "../opening/pairing.js";
import { createPointing } from "../core/figure/pointing.js";
import { trouble } from "../core/figure/figure-status.js";
import { format, merge, parse } from "../core/store/link.js";
import { linkTo } from "../views/create-figure.js";
import { OPTIONS } from "../views/index.js";
import { createSentence, linkOfState } from "./figure-controls.js";
import { liveQuery } from "./figure-state.js";
import { arrive, linkBelow } from "./formula-and-zoo-figures.js";

/** The place of a word in a state. */
const WORD = /^\d{1,3}$/;
/** The side of a word of the translation that is pointed at. */
const WRITTEN = "written";

/**
 * Its state is the sentence and the word that was clicked.
 * @param {Parameters<typeof import("./figures.js").liven>[0]} desk
 * @param {HTMLElement} element
 * @returns {Promise<import("./figures.js").Live>}
 */
export async function paired(desk, element) {
  const { page, source, lang } = desk;
  const stand = find(".stand", element);
  const open = /** @type {HTMLAnchorElement} */ (find(".open", element));
  let state = merge(linkTo(), parse(element.dataset.link ?? "", OPTIONS), { lang });
  const opened = new URLSearchParams(element.dataset.link).get("word");
  /** The written word that was clicked. */
  let word = opened && WORD.test(opened) ? Number(opened) : null;
  const asker = createAsker();
  const failed = trouble(page, () => void ask());
  /** @type {import("../opening/pairing.js").Opening | null} */
  let shown = null;
  const { form, field } = createSentence(page, state.source, (typed) => {
    read(typed, null);
    live.changed();
  });
  const says = h("p", { className: "caption" });
  const { move, pointing } = createPointing({
    light: (/** @type {number | null} */ at) => at !== null && light(at),
    write: (at) => ({ query: { side: WRITTEN, index: at }, key: null }),
    read: ({ query }) => (query?.side === WRITTEN && shown && query.index < shown.written.length ? query.index : null),
  });
  const picture = createPairing(page, (at, clicked) => {
    move(at);
    light(at);
    if (!clicked) return;
    word = at;
    live.changed();
  });
  const root = h("div", { className: "coming" }, h("div", { className: "figure-bar" }, form), failed.element, h("div", { className: "saying" }, says), picture.element);
  stand.append(root);

  const live = liveQuery({
    pointing,
    state: () => String(new URLSearchParams([["opening", "1"], ["source", state.source], ...(word === null ? [] : [["word", String(word)]])])),
    go(query) {
      const said = new URLSearchParams(query);
      const [typed, at] = [said.get("source") ?? "", said.get("word")];
      if (said.get("opening") !== "1" || !typed.trim() || (at && !WORD.test(at))) return false;
      read(typed, at ? Number(at) : null);
      return true;
    },
  });

  /** @param {string} typed @param {number | null} at */
  function read(typed, at) {
    const other = typed !== state.source;
    state = merge(state, { source: typed });
    field.value = typed;
    word = at;
    open.href = `/?${format(state, OPTIONS)}`;
    if (other) void ask();
    else relight();
  }

  async function run() {
    const [model] = await source.models();
    return { model, trace: await source.trace(request(model, state, openingNeeds(model))) };
  }

  /** @returns {Promise<Problem | null>}  why it failed */
  async function ask() {
    const found = await asker.ask(run, failed.show);
    if (found === null) return null;
    failed.show(found instanceof Problem ? found : null);
    if (found instanceof Problem) return found;
    shown = openingOf(found);
    relight();
    return null;
  }

  /** Highlight the word that was clicked, or the first to be looked at. */
  function relight() {
    if (shown?.written.length) light(word !== null && word < shown.written.length ? word : shown.first);
  }

  /** @param {number} at */
  function light(at) {
    if (!shown) return;
    render(says, lookingFrom(page, shown, at, true));
    picture.draw(shown, at, true);
  }

  const problem = await ask();
  if (problem) throw problem;
  linkBelow(root, linkOfState(desk, element, live.shows));
  arrive(stand, root);
  return live;
}
