/** Messages for problems: what went wrong and what to do about it. */

import { LONGEST } from "../data/long-texts.js";
import { Problem } from "../data/problem.js";

/** @typedef {import("../lib/i18n.js").Translate} Translate */

/** @type {Record<string, (t: Translate, problem: Problem) => string>} */
const WORDING = {
  offline: (t) =>
    t(
      "The server cannot be reached. What is shown is the last answer; check the connection and try again.",
    ),
  busy: (t, { retryAfter }) =>
    retryAfter
      ? t("The model is busy. Trying again in {seconds} s.", { seconds: retryAfter })
      : t("The model is busy. Try again in a moment."),
  "too-many-requests": (t, { retryAfter }) =>
    retryAfter
      ? t("Too much work in a short time. Trying again in {seconds} s.", { seconds: retryAfter })
      : t("Too much work in a short time. Try again in a moment."),
  "too-much-work": (t) => t("This takes too much work at once. Shorten the sentence, or change less."),
  garbled: (t) => t("The answer arrived incomplete or damaged. Try again."),
  unexpected: (t) => t("Something went wrong on this page. Try again, or reload it."),
  "text-too-long": tooLong,
  "too-long": tooLong,
  "body-too-large": tooLong,
  "reply-too-large": (t) => t("There is too much to see at once. Shorten the sentence."),
  "not-text": (t) => t("The sentence holds a character that is not text. Delete it and try again."),
  "empty-text": (t) => t("There is nothing to read yet. Type a sentence."),
  "unknown-direction": (t) => t("The model does not translate in this direction. Choose another."),
  "unknown-model": (t) => t("The model of this link is not served here."),
  "not-of-task": (t) => t("This text is none of the task."),
  "unknown-task": (t) => t("The zoo has no such task."),
  unsupported: (t) => t("This model cannot do that. Choose another view, or another model."),
  "no-learning": (t) => t("This model came without snapshots of its training."),
  "unknown-share": (t) => t("There is no share at this address. Perhaps the link was cut short."),
  "newer-share": (t) =>
    t("This share was made by a newer version of Headlight than the one that runs here. Update it to open the share."),
  "damaged-share": (t) => t("This share is damaged: what was saved of it can no longer be read."),
  "wrong-edit-key": (t) => t("This is not the edit key of this share."),
  "storage-busy": databaseFails,
  "storage-unavailable": databaseFails,
  "storage-full": (t) =>
    t("The server has no room for another share. The link in the address bar still works."),
  "quota-reached": (t) =>
    t("Your address has no room for another share. Delete one that is no longer needed."),
  "too-many-shares": (t) => t("Too many links in a short time. Wait a minute and share again."),
  frozen: (t) => t("This was not saved with the share, and its model is no longer served here."),
  "not-given": (t) => t("This figure shows given numbers; there is no model to ask for others."),
  "long-share": (t) =>
    t("Texts of more than {n} tokens cannot be saved as a share. The link in the address bar holds the text and what is shown: copy it.", { n: LONGEST }),
  "nothing-drawn": (t) => t("There is nothing to save yet."),
  "wrong-cells": (t) => t("A marked cell cannot be used. Correct it, then share."),
  unmade: (t) => t("The file could not be made."),
  "unknown-run": (t) => t("This run is gone: runs are deleted some time after nobody has looked at them, and when the server restarts."),
  "no-snapshot": (t) => t("The run has no snapshot of this step."),
  "wrong-run-key": (t) => t("Only whoever started the run controls it."),
  "wrong-model-key": (t) => t("Only whoever kept the model can delete it."),
  "run-ended": (t) => t("The run has ended. Fork it to go on from a snapshot."),
  "too-many-runs": (t) => t("You have too many runs at once. Stop one first."),
  "runs-busy": (t) => t("Too many runs are waiting. Try again in a moment."),
  "training-off": (t) => t("This server trains no models."),
  "models-full": (t) => t("The server has no room for another model."),
  internal: (t) => t("Something went wrong in the server. It has been logged; try again."),
};

/** @param {Translate} t */
function databaseFails(t) {
  return t("Shares cannot be saved or opened right now. Try again in a moment.");
}

/**
 * Includes by how much, if the server counted.
 * @param {Translate} t
 * @param {Problem} problem
 */
function tooLong(t, { excess, field }) {
  const advice = t("Shorten it, or trace its parts one by one.");
  const text = field === "target" ? t("The translation is too long") : t("The sentence is too long");
  if (excess?.value === undefined) return t("{text}. {advice}", { text, advice });
  const { value, limit, unit } = excess;
  if (unit === "tokens")
    return t("{text}: {value} of at most {limit} tokens. {advice}", { text, value, limit, advice });
  if (unit === "characters")
    return t("{text}: {value} of at most {limit} characters. {advice}", {
      text,
      value,
      limit,
      advice,
    });
  return t("{text}. {advice}", { text, advice });
}

/**
 * @param {Translate} t
 * @param {Problem} problem
 */
export function wording(t, problem) {
  if (problem.kind === "no-means") return t("This model came without the means of its heads.");
  if (problem.kind === "does-not-fit" && problem.field === "options")
    return t("With these options the model has other parameters than the snapshot. Choose other options, or start a new run.");
  if (problem.field.startsWith("interventions")) return t("A change to the model cannot be made.");
  const words = WORDING[problem.kind];
  return words
    ? words(t, problem)
    : t("The request was not understood: {detail}.", { detail: problem.detail });
}
