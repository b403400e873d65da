/**
 * What a model of one text predicts, beside the text: how it continues, or the masked token. A
 * click on a candidate inserts it.
 */

import { withMaskedToken, masks, predictionAt, isPredictor, withCandidate, isWritable } from "../core/compute/predictions.js";
import { token } from "../core/draw/token.js";
import { wording } from "../core/figure/problem-wording.js";
import { isFixed } from "../core/store/share-contents.js";
import { typedText } from "../core/wire/model-description.js";
import { isLong } from "../core/wire/long-texts.js";
import { Problem, outputKind } from "../core/wire/reply.js";
import { requestBody, changesInForce, isChat } from "../core/wire/request.js";
import { createAsker } from "../core/wire/connection.js";
import { labels } from "../core/wire/tokens.js";
import { el, find, render } from "../lib/dom.js";
import { two } from "../lib/numbers.js";

/** @import { Candidate, Predicted } from "../core/compute/predictions.js" */
/** @import { PageServices } from "./main-figure.js" */
/** @import { Page, Store } from "../core/store/store.js" */

// What a click on a candidate changes: the text or, in a chat, the answer, which is the prefix of what
// the model writes.

/** What another text or another answer leaves behind. */
const afresh = { query: null, key: null, pad_to: null };

/** @param {Store} store */
function createEdits(store) {
  /** The index of the first token of the answer in a chat. */
  const answerAt = () => (store.get().trace?.output.continues ?? 0) + 1;

  /** @param {string} text  of the page from now on @param {boolean} [pair]  whether it is the second text */
  const replace = (text, pair = false) => store.go({ ...(pair ? { pair: text } : { source: text }), decode: null, ...afresh }, "chosen");

  /** @param {number[]} prefix  with which the answer begins; one more token, since the last one is not read */
  const answer = (prefix) => store.go({ decode: { method: "greedy", prefix, max_tokens: prefix.length + 1 }, ...afresh }, "chosen");

  return {
    answer,
    replace,

    /**
     * Whether a candidate can be put there: in a chat, only into the answer.
     * @param {Predicted} place
     * @param {Candidate} candidate
     */
    puttable: (place, candidate) => !isFixed(store.get()) && (isChat(store.get()) ? place.row + 1 >= answerAt() : isWritable(candidate)),

    /** @param {Predicted} place @param {Candidate} candidate */
    put(place, candidate) {
      const { link, trace, model } = store.get();
      const tokens = trace?.tokens[typedText(model)];
      if (!tokens) return;
      if (isChat({ model, link })) return answer([...tokens.slice(answerAt(), place.row + 1).map(({ id }) => id), candidate.id]);
      // Spans of what the model wrote count on after the text.
      const continued = outputKind(model) === "text" ? trace.output.text : "";
      replace(withCandidate(textOf(link, tokens[place.row]) + continued, tokens, place, candidate), tokens[place.row].pair);
    },
  };
}

/** The text that a token is of. @param {import("../core/store/link.js").State} link @param {{pair?: boolean}} token */
const textOf = ({ source, pair }, token) => (token.pair ? (pair ?? "") : source);

/** The checkbox "as a chat". @param {Store} store */
function bindChat(store) {
  const label = find("#as-chat");
  const turn = /** @type {HTMLInputElement} */ (find("input", label));
  turn.addEventListener("change", () => store.go({ chat: turn.checked || null, decode: null, ...afresh }, "chosen"));
  return {
    show() {
      const page = store.get();
      label.hidden = !page.model?.capabilities.includes("chat");
      turn.checked = isChat(page);
      turn.disabled = isFixed(page);
    },
  };
}

// Continue a text with the model: one stream at a time; another run cancels it.

/**
 * @typedef {object} Written
 * @property {unknown} of  the run that it continues
 * @property {string} text  so far
 * @property {number[]} ids  when it has ended
 * @property {boolean} ended
 * @property {Problem | null} problem
 */

/** @param {Pick<import("../core/store/data-sources.js").Source, "lines">} source @param {() => void} changed */
function createContinuation(source, changed) {
  const asker = createAsker();
  /** @type {Written | null} */
  let written = null;

  /** @param {Partial<Written>} patch */
  function set(patch) {
    if (written) written = { ...written, ...patch };
    changed();
  }

  /** @param {Page} page */
  async function start({ model, link, trace }) {
    const { source: text, model: id, chat } = link;
    const body = requestBody(model, { source: text, model: id, chat, interventions: changesInForce(link) });
    written = { of: trace?.id, text: "", ids: [], ended: false, problem: null };
    changed();
    const fails = (/** @type {Problem} */ problem) => set({ ended: true, problem });
    const end = await asker.ask(async (signal) => {
      for await (const { step, end } of source.lines("/api/decode", body, signal)) {
        if (signal.aborted) return null;
        if (step) set({ text: grown(step) });
        if (end) set({ text: end.output.text, ids: end.output.tokens.map((/** @type {{id: number}} */ { id }) => id), ended: true });
      }
      return true;
    }, fails);
    if (end instanceof Problem) fails(end);
  }

  return {
    /** What was written for a run; null: nothing. @param {unknown} run */
    of: (run) => (written?.of === run ? written : null),
    start,
    stop() {
      asker.stop();
      set({ ended: true });
    },
    /** Cancel the stream of any other run. @param {unknown} run */
    keep(run) {
      if (written === null || written.of === run) return;
      asker.stop();
      written = null;
    },
  };
}

/** The text after a step: what it read, and the token that it chose. @param {any} step */
const grown = ({ hypotheses: [{ text }], beams: [{ token }] }) => text + (token.special ? "" : token.text);

/** The number of candidates shown. */
const MAX_CANDIDATES = 6;

/** @param {PageServices} services */
export function bindPredictions({ store, source, t, phrase, announce }) {
  const side = find("#predictions");
  const [line, act, take] = ["#continuation", "#write-on", "#take-over"].map((id) => find(id));
  const continuation = createContinuation(source, show);
  const { answer, put, puttable, replace } = createEdits(store);
  const chat = bindChat(store);
  let announcedText = "";

  function show() {
    const page = store.get();
    const { model, trace } = page;
    continuation.keep(trace?.id);
    side.hidden = !isPredictor(model) || !trace?.tokens[typedText(model)] || isLong(trace);
    find("#band-parts").toggleAttribute("data-alone", side.hidden && model?.texts.length === 1);
    if (side.hidden || !isPredictor(model) || !trace) return;
    const place = predictionAt(trace, model, page.link.query);
    render(find("#predicted"), place ? topCandidates(place).map((candidate) => chip(place, candidate)) : []);
    render(find("#predicted-where"), place ? placeText(place) : "");
    chat.show();
    find("#predicted").setAttribute("aria-label", place?.kind === "fill" ? t("What could stand here") : t("What could come next"));
    if (model.mask) showFilled(page, place);
    else showWritten(page);
  }

  /** @param {Predicted} place */
  function placeText({ kind, row }) {
    const { model, trace } = store.get();
    if (!model || !trace) return "";
    const [text] = [labels(trace.tokens[typedText(model)], "")];
    const tokenNode = { token: el("span", { className: "as-query" }, token(text[row])) };
    if (kind === "next") return phrase(t("after {token}"), tokenNode);
    return phrase(masks(trace, model).includes(row) ? t("at {token}") : t("in place of {token}"), tokenNode);
  }

  /** @param {Predicted} place @param {Candidate} candidate */
  function chip(place, candidate) {
    const can = puttable(place, candidate);
    const props = {
      type: "button",
      className: "chip",
      disabled: !can,
      "aria-current": candidate.id === place.present ? "true" : null,
      title: can ? (place.kind === "next" ? t("Continue with this token") : t("Put this token here")) : null,
      onclick: () => put(place, candidate),
    };
    const [label] = labels([{ ...candidate, start: 0, end: 0 }], "");
    return el("li", { key: String(candidate.id) }, el("button", props, token(label), el("span", { className: "chance" }, two(candidate.probability))));
  }

  /**
   * For a masked language model: the text filled in, or a word to mask.
   * @param {Page} page
   * @param {Predicted | null} place
   */
  function showFilled({ model, trace, link }, place) {
    const mask = model?.mask ?? "";
    if (!model || !trace) return;
    const tokens = trace.tokens[typedText(model)];
    const all = masks(trace, model);
    const behind = place !== null && all.includes(place.row);
    const [best] = place?.candidates ?? [];
    const word = place && !behind && !tokens[place.row].special && !isFixed(store.get()) ? tokens[place.row] : null;
    const filled = behind && best && isWritable(best) ? withCandidate(textOf(link, tokens[place.row]), tokens, place, best) : "";
    line.textContent = all.length ? filled : t("Replace a word with {mask}, and the model fills it in.", { mask });
    line.classList.toggle("hint", !all.length);
    act.hidden = word === null;
    act.textContent = word && t("Hide “{token}”", { token: word.text.trim() });
    act.onclick = () => word && replace(withMaskedToken(textOf(link, word), word, mask), word.pair);
    take.hidden = true;
  }

  /** For a model that writes: how the text continues. @param {Page} page */
  function showWritten(page) {
    const written = continuation.of(page.trace?.id);
    const writes = written !== null && !written.ended;
    const able = (page.model?.capabilities.includes("decode") ?? false) && !isFixed(page);
    const { text = "", problem = null } = written ?? {};
    line.classList.toggle("hint", !text);
    const chats = isChat(page);
    line.textContent = problem ? wording(t, problem) : text || (able && !written ? t("The model predicts one token at a time.") : "");
    act.hidden = !able;
    act.textContent = writes ? t("Stop") : chats ? t("Let it answer") : t("Continue the text");
    act.onclick = () => (writes ? continuation.stop() : void continuation.start(page));
    take.hidden = writes || !text || !able;
    take.textContent = chats ? t("Show its attention") : t("Add to the text");
    take.onclick = () => (chats ? answer(written?.ids ?? []) : replace(page.link.source + text));
    if (written?.ended && text && written.text !== announcedText) announce(text);
    announcedText = written?.ended ? text : "";
  }

  store.subscribe(({ link, model, trace, share, live }) => [link.query, link.block, model, trace, share, live], show);
  show();
}

/** @param {Predicted} place  The most probable, and the one that the text has if that is among them. */
function topCandidates({ candidates, present }) {
  const first = candidates.slice(0, MAX_CANDIDATES);
  const presentCandidate = candidates.find(({ id }) => id === present);
  return presentCandidate && !first.includes(presentCandidate) ? [...first.slice(0, -1), presentCandidate] : first;
}
