/** What the view says of an output: a translation, a text that is continued, or words at masks. */

import { token } from "../../core/draw/token.js";
import { makeOneStop } from "../../core/figure/pointing.js";
import { continuesAt, counted, outputKind } from "../../core/wire/reply.js";
import { labels, languages } from "../../core/wire/tokens.js";
import { el, h, render } from "../../lib/dom.js";
import { plus, times, two } from "../../lib/numbers.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Kind } from "../../core/wire/reply.js" */
/** @import { Trace } from "../../core/wire/wire.js" */
/** @import { Translate } from "../../lib/i18n.js" */

/**
 * The effect of the changes, as `phrase` takes it.
 * @param {Translate} t
 * @param {Kind} kind
 * @param {boolean} isSame  whether the changed model writes the same
 */
export function effect(t, kind, isSame) {
  const sentences = {
    translation: () => isSame
      ? t("The translation stays the same. It is now {likelier} ({change} nats; log-probability {before} → {after}).")
      : t("The translation changes. The original translation is now {likelier} ({change} nats; log-probability " +
          "{before} → {after})."),
    output: () => isSame
      ? t("The output stays the same. It is now {likelier} ({change} nats; log-probability {before} → {after}).")
      : t("The output changes. The original output is now {likelier} ({change} nats; log-probability {before} → {after})."),
    text: () => isSame
      ? t("The text continues the same way. With its continuation it is now {likelier} ({change} nats; log-probability {before} → {after}).")
      : t("The text continues differently. With its original continuation it is now {likelier} ({change} nats; " +
          "log-probability {before} → {after})."),
    mask: () => isSame
      ? t("The mask is filled in the same way, which is now {likelier} ({change} nats; log-probability {before} → {after}).")
      : t("The mask is filled in differently. What stood there is now {likelier} ({change} nats; log-probability " +
          "{before} → {after})."),
  };
  return sentences[kind]();
}

/** All tokens together, within a sentence. @param {Translate} t @param {Kind} kind */
export const theWhole = (t, kind) =>
  ({ translation: t("the whole translation"), output: t("the whole output"), text: t("the whole text"), mask: t("what fills the mask") })[kind];

/** All tokens together, as a title. @param {Translate} t @param {Kind} kind */
export const whole = (t, kind) =>
  ({ translation: t("whole translation"), output: t("whole output"), text: t("whole text"), mask: t("what fills the mask") })[kind];

/** What both runs have in common. @param {Translate} t @param {Kind} kind */
export const basis = (t, kind) =>
  ({
    translation: t("The changed model is given the original translation, so each row is the same step. Ring: before; disc: after."),
    output: t("The changed model is given the original output, so each row is the same step. Ring: before; disc: after."),
    text: t("The changed model is given the same text and continuation: each row is the probability of a token after those before it. Ring: before; disc: after."),
    mask: t("Each row is a mask, with the word that the model as trained puts there. Ring: before; disc: after."),
  })[kind];

/** What the map's colours mean. @param {Translate} t @param {Kind} kind */
export const key = (t, kind) =>
  ({
    translation: t("The number is the change in log-probability, in nats. Orange (below zero): the head helps; without it the " +
      "translation is less probable. Blue (above zero): the head works against the translation. Click to " +
      "switch off; click again to restore."),
    output: t("The number is the change in log-probability, in nats. Orange (below zero): the head helps; without it the " +
      "output is less probable. Blue (above zero): the head works against the output. Click to switch off; click " +
      "again to restore."),
    text: t("The number is the change in log-probability, in nats. Orange (below zero): the head helps; without it the " +
      "text is less probable. Blue (above zero): the head works against the text. Click to switch off; click " +
      "again to restore."),
    mask: t("The number is the change in log-probability, in nats. Orange (below zero): the head helps; without it the " +
      "word is less probable. Blue (above zero): the head works against the word. Click to switch off; click " +
      "again to restore."),
  })[kind];

/** What the colours of sublayers mean. @param {Translate} t */
export const sublayerKey = (t) =>
  t("The number is the change in log-probability, in nats, when the sublayer adds nothing and only its residual connection is passed on. " +
    "Orange (below zero): the sublayer helps. Click to switch off; click again to restore.");

/** What the colours of pairs mean. @param {Translate} t */
export const pairKey = (t) =>
  t("The number is what both heads together change in log-probability, minus the sum of what each changes alone, in nats. Orange (below " +
    "zero): each stands in for the other, so that losing both costs more. Blue: one is of little use without the other, so that losing both " +
    "costs less. Click to change both; click again to restore.");

/** What the model writes itself, as trained or changed: the name of its line. @param {Translate} t @param {string} mask */
export const needsMask = (t, mask) =>
  t("This model only predicts words at a mask. Put {mask} in place of a word to see what changes do to it.", { mask });

// Describe a difference of log-probabilities in words.

/** Smaller differences (in nats) count as equally likely. */
const SAME = Math.log(1.05);

/**
 * @param {import("../../lib/i18n.js").Translate} t
 * @param {number} nats  after − before
 * @returns {string}  such as "255× less likely"
 */
export function likelier(t, nats) {
  if (Math.abs(nats) < SAME) return t("about as likely as before");
  const ratio = times(Math.abs(nats));
  return nats < 0 ? t("{ratio}× less likely", { ratio }) : t("{ratio}× more likely", { ratio });
}

/** @param {number} nats  With its sign. */
export const inNats = (nats) => plus(nats, two);

// Choose one written token, or all of them.

/** @param {Trace} trace  What it writes. */
export const writes = ({ output, direction }) => labels(output.tokens, languages(direction)[1]);

/** @param {Context} context */
export function rowPicker({ store, t }) {
  const element = h("div", { className: "sweep-rows", role: "group", "aria-label": t("Written token") });
  makeOneStop(element);

  return {
    element,
    /** @param {Trace} trace @param {number | null} row @param {boolean} all  whether all of them can be chosen */
    show(trace, row, all) {
      const kind = outputKind(store.get().model);
      const from = continuesAt(store.get().model, trace.output);
      const names = writes(trace);
      const choice = (/** @type {import("../../lib/dom.js").Child} */ name, /** @type {number | null} */ written) =>
        el("button", { type: "button", className: `chip${Number(written) >= from ? " continued" : ""}`, "aria-pressed": written === row, title: written === null ? whole(t, kind) : Number(written) >= from ? t("written by the model") : "", onclick: () => store.choose({ written, against: null }) }, name);
      render(element, all && choice(t("all"), null), counted(trace.output).map((index) => choice(token(names[index]), index)));
    },
  };
}
