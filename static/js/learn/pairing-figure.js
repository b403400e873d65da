/** A sentence and its translation word by word with glosses, for a link with `opening=1`. */

import { Problem } from "../core/wire/reply.js";
import { request } from "../core/wire/request.js";
import { createAsker } from "../core/wire/connection.js";
import { find, h, render } from "../lib/dom.js";
import { attentionSentence, createPairing, openingNeeds, openingOf } from "../opening/word-pairing.js";
import { createPointing } from "../core/figure/pointing.js";
import { problemLine } from "../core/figure/figure-status.js";
import { format, mergeStates, parse } from "../core/store/link.js";
import { linkTo } from "../views/create-figure.js";
import { OPTIONS } from "../views/index.js";
import { createSentence, linkOfState, liveQuery } from "./figure-controls.js";
import { linkBelow, replaceStill } from "./formula-and-zoo-figures.js";
import { openAddress } from "./lesson-address.js";

/** The place of a word in a state. */
const WORD = /^\d{1,3}$/;
/** The side of a word of the translation that is pointed at. */
const WRITTEN = "written";

/**
 * Its state is the sentence and the word that was clicked.
 * @param {Parameters<typeof import("./figures.js").openFigure>[0]} services
 * @param {HTMLElement} element
 * @returns {Promise<import("./figures.js").LessonFigure>}
 */
export async function pairingFigure(services, element) {
  const { page, source, lang } = services;
  const stand = find(".stand", element);
  const open = /** @type {HTMLAnchorElement} */ (find(".open", element));
  let state = mergeStates(linkTo(), parse(element.dataset.link ?? "", OPTIONS), { lang });
  const opened = new URLSearchParams(element.dataset.link).get("word");
  /** The written word that was clicked. */
  let word = opened && WORD.test(opened) ? Number(opened) : null;
  const asker = createAsker();
  const failed = problemLine(page, () => void ask());
  /** @type {import("../opening/word-pairing.js").Opening | null} */
  let opening = null;
  const { form, field } = createSentence(page, state.source, (typed) => {
    read(typed, null);
    live.changed();
  });
  const caption = h("p", { className: "caption" });
  const { move, pointing } = createPointing({
    light: (/** @type {number | null} */ wordIndex) => wordIndex !== null && light(wordIndex),
    write: (wordIndex) => ({ query: { side: WRITTEN, index: wordIndex }, key: null }),
    read: ({ query }) => (query?.side === WRITTEN && opening && query.index < opening.written.length ? query.index : null),
  });
  const picture = createPairing(page, (wordIndex, clicked) => {
    move(wordIndex);
    light(wordIndex);
    if (!clicked) return;
    word = wordIndex;
    live.changed();
  });
  const root = h("div", { className: "coming" }, h("div", { className: "figure-bar" }, form), failed.element, h("div", { className: "saying" }, caption), picture.element);
  stand.append(root);

  const live = liveQuery({
    pointing,
    state: () => String(new URLSearchParams([["opening", "1"], ["source", state.source], ...(word === null ? [] : [["word", String(word)]])])),
    go(query) {
      const parameters = new URLSearchParams(query);
      const [typed, wordText] = [parameters.get("source") ?? "", parameters.get("word")];
      if (parameters.get("opening") !== "1" || !typed.trim() || (wordText && !WORD.test(wordText))) return false;
      read(typed, wordText ? Number(wordText) : null);
      return true;
    },
  });

  /** @param {string} typed @param {number | null} wordIndex */
  function read(typed, wordIndex) {
    const isOther = typed !== state.source;
    state = mergeStates(state, { source: typed });
    field.value = typed;
    word = wordIndex;
    open.href = openAddress("workspace", format(state, OPTIONS));
    if (isOther) void ask();
    else relight();
  }

  async function run() {
    const [model] = await source.models();
    return { model, trace: await source.trace(request(model, state, openingNeeds(model))) };
  }

  /** @returns {Promise<Problem | null>}  why it failed */
  async function ask() {
    const reply = await asker.ask(run, failed.show);
    if (reply === null) return null;
    failed.show(reply instanceof Problem ? reply : null);
    if (reply instanceof Problem) return reply;
    opening = openingOf(reply);
    relight();
    return null;
  }

  /** Highlight the word that was clicked, or the first to be looked at. */
  function relight() {
    if (opening?.written.length) light(word !== null && word < opening.written.length ? word : opening.first);
  }

  /** @param {number} wordIndex */
  function light(wordIndex) {
    if (!opening) return;
    render(caption, attentionSentence(page, opening, wordIndex, true));
    picture.draw(opening, wordIndex, true);
  }

  const problem = await ask();
  if (problem) throw problem;
  linkBelow(root, linkOfState(services, element, live.shows));
  replaceStill(stand, root);
  return live;
}
