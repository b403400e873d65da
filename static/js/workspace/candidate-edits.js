/**
 * What a click on a candidate changes: the text or, in a chat, the answer, which is the prefix of what
 * the model writes.
 */

import { typed } from "../core/wire/attentions.js";
import { outputKind } from "../core/wire/output.js";
import { withCandidate, writable } from "../core/compute/predictions.js";
import { isChat } from "../core/wire/request.js";
import { find } from "../lib/dom.js";
import { isFixed } from "../core/store/share-contents.js";

/** @import { Store } from "../core/store/store.js" */
/** @import { Predicted, Candidate } from "../core/compute/predictions.js" */

/** What another text or another answer leaves behind. */
const afresh = { query: null, key: null, pad_to: null };

/** @param {Store} store */
export function createEdits(store) {
  /** The index of the first token of the answer in a chat. */
  const answerAt = () => (store.get().trace?.output.continues ?? 0) + 1;

  /** @param {string} text  of the page from now on */
  const replace = (text) => store.go({ source: text, decode: null, ...afresh }, "chosen");

  /** @param {number[]} prefix  with which the answer begins; one more token, since the last one is not read */
  const answer = (prefix) => store.go({ decode: { method: "greedy", prefix, max_tokens: prefix.length + 1 }, ...afresh }, "chosen");

  return {
    answer,
    replace,

    /**
     * Whether a candidate can be put there: in a chat, only into the answer.
     * @param {Predicted} place
     * @param {Candidate} one
     */
    puttable: (place, one) => !isFixed(store.get()) && (isChat(store.get()) ? place.row + 1 >= answerAt() : writable(one)),

    /** @param {Predicted} place @param {Candidate} one */
    put(place, one) {
      const { link, trace, model } = store.get();
      const tokens = trace?.tokens[typed(model)];
      if (!tokens) return;
      if (isChat({ model, link })) return answer([...tokens.slice(answerAt(), place.row + 1).map(({ id }) => id), one.id]);
      // Spans of what the model wrote count on after the text.
      const continued = outputKind(model) === "text" ? trace.output.text : "";
      replace(withCandidate(link.source + continued, tokens, place, one));
    },
  };
}

/** The checkbox "as a chat". @param {Store} store */
export function bindChat(store) {
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
