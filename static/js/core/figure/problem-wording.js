/** Messages for problems: what went wrong and what to do about it. */

import { Problem } from "../wire/reply.js";

/** @import { Translate } from "../../lib/i18n.js" */

/** @type {Record<string, (t: Translate, problem: Problem) => string>} */
const WORDING = {
  offline: (t) =>
    t(
      "The server cannot be reached. This is the last result; check the connection and try again.",
    ),
  unloaded: (t) => t("Not loaded: the server cannot be reached. Check the connection and try again."),
  stopped: (t) => t("The run was stopped. What was on the page before is still shown."),
  queued: (t) => t("Busy: your sentence is next."),
  busy: (t, { retryAfter }) =>
    retryAfter
      ? t("The model is busy. Trying again in {seconds} s.", { seconds: retryAfter })
      : t("The model is busy. Try again in a moment."),
  "too-many-requests": (t, { retryAfter }) =>
    retryAfter
      ? t("You have requested too much work in a short time. Trying again in {seconds} s.", { seconds: retryAfter })
      : t("You have requested too much work in a short time. Try again in a moment."),
  "too-much-work": (t) => t("This is too much work for one request. Shorten the sentence, or make fewer changes."),
  garbled: (t) => t("The reply was incomplete or damaged. Try again."),
  unexpected: (t) => t("Something went wrong on this page. Try again, or reload it."),
  "text-too-long": tooLong,
  "too-long": tooLong,
  "body-too-large": tooLong,
  "reply-too-large": (t) => t("This is too much data to show at once. Shorten the sentence."),
  "not-text": (t) => t("The sentence contains a character that is not text. Delete it and try again."),
  "empty-text": (t) => t("There is nothing to read yet. Type a sentence."),
  "unknown-direction": (t) => t("The model does not translate in this direction. Choose another."),
  "unknown-model": (t) => t("The model of this link is not served here."),
  "not-of-task": (t) => t("This text is not a valid input for the task."),
  "unknown-task": (t) => t("The zoo has no such task."),
  "no-simd": (t) => t("This browser cannot run the model: it lacks WebAssembly SIMD."),
  unsupported: (t) => t("This model cannot do that. Choose another view, or another model."),
  "chat-template": (t) => t("The chat template of this model cannot be used for this text. Turn off “as a chat”."),
  "no-mask": (t) => t("Hide a word behind the mask first: the model is scored on the word that it fills in."),
  "no-survey": (t) => t("The heads of this model have not been measured."),
  "no-index": (t) => t("No sentences have been indexed for this model."),
  "unknown-corpus": (t) => t("This text is no longer kept. Send it again."),
  "wrong-corpus-key": (t) => t("Only the person who sent the text can delete it."),
  "too-many-corpora": (t) => t("Your last text is still being measured. Try again when it is done."),
  "indexing-busy": (t) => t("Too many texts are waiting, in all or from this network. Try again in a moment."),
  "indexing-off": (t) => t("This server takes no texts of readers."),
  "corpora-full": (t) => t("The server has no room for another text, or none from this network. Try again later."),
  "too-many-sentences": (t, { excess }) => t("These are {n} sentences; at most {most} can be measured.", { n: excess?.value ?? "", most: excess?.limit ?? "" }),
  "too-many-characters": (t, { excess }) => t("The text has {n} characters; at most {most} are allowed.", { n: excess?.value ?? "", most: excess?.limit ?? "" }),
  "unknown-head": (t) => t("The model has no such head."),
  "no-learning": (t) => t("This model has no snapshots of its training."),
  "unknown-share": (t) => t("There is no share at this address. Perhaps the link was cut short."),
  "newer-share": (t) =>
    t("This share was made by a newer version of Headlight than the one that runs here. Update it to open the share."),
  "damaged-share": (t) => t("This share is damaged: its contents can no longer be read."),
  "wrong-edit-key": (t) => t("This edit key does not match."),
  "unknown-collection": (t) => t("There is no collection at this address. Perhaps it was deleted, or the link was cut short."),
  "damaged-collection": (t) => t("This collection is damaged: its contents can no longer be read."),
  "collection-changed": (t) => t("Someone else has changed the collection. Load it again."),
  "not-a-link": (t) => t("This link cannot be used here. Copy the address of a sentence, of attention by hand once a number of it was changed, of a share, or of a lesson."),
  "not-a-state": (t) => t("The figure of this lesson does not have the state in the link (“shows”). Copy the link again, with “Link” below the figure."),
  "storage-busy": databaseFails,
  "storage-unavailable": databaseFails,
  "storage-full": (t) =>
    t("The server has no room for another share. The link in the address bar still works."),
  "quota-reached": (t) =>
    t("The shares of your network address have reached their limit. Delete one that is no longer needed."),
  "too-many-shares": (t) => t("Too many links in a short time. Wait a minute and share again."),
  frozen: (t) => t("This was not saved with the share, and its model is no longer served here."),
  "not-given": (t) => t("This figure shows given numbers; there is no model to compute others."),
  "nothing-drawn": (t) => t("There is nothing to save yet."),
  "wrong-cells": (t) => t("A marked cell cannot be used. Correct it, then share."),
  unmade: (t) => t("The file could not be made."),
  "unknown-run": (t) => t("This run no longer exists: runs are deleted some time after they were last viewed, and when " +
  "the server restarts."),
  "no-snapshot": (t) => t("The run has no snapshot of this step."),
  "wrong-run-key": (t) => t("Only the person who started the run can control it."),
  "wrong-model-key": (t) => t("Only the person who kept the model can delete it."),
  "run-ended": (t) => t("The run has ended. Fork it to continue from a snapshot."),
  "too-many-runs": (t) => t("You have too many runs. Stop one first."),
  "runs-busy": (t) => t("Too many runs are waiting, in all or from this network. Try again in a moment."),
  "training-off": (t) => t("This server trains no models."),
  "models-full": (t) => t("The server has no room for another model, or none from this network. Delete one that you kept."),
  "unknown-room": (t) => t("There is no room with this code, or it has ended."),
  "wrong-room-key": (t) => t("This browser may not present in the room."),
  "not-asking": (t) => t("This vote has ended."),
  "room-full": (t) => t("The room is full, or has no more places for this network."),
  "room-closed": (t) => t("The room is closed to newcomers. Ask your teacher to open it again."),
  "wall-closed": (t) => t("Your teacher does not see what you explore at present."),
  "room-out-of-space": (t) => t("The room has no space left for more answers."),
  "too-many-questions": (t) => t("The room has been asked as many questions as the server allows. Open another room."),
  "rooms-full": (t) => t("The server has no room for another class, or none from this network. Try again in a minute."),
  "too-many-rooms": (t) => t("Too many rooms in a short time. Try again in a minute."),
  "too-many-room-tries": (t) => t("Too many wrong codes from this network. Try again in a minute."),
  "listing-off": (t) => t("This server lists no collections."),
  "listing-withdrawn": (t) => t("The operator of this server has taken the collection off the shelf."),
  "too-many-listed": (t, { excess }) => t("At most {limit} of your collections can be on the shelf. Take another one off.", { limit: excess?.limit ?? "" }),
  "unknown-assignment": (t) => t("There is no assignment at this address. Perhaps it was deleted, or the link was cut short."),
  "damaged-assignment": (t) => t("This assignment is damaged: its contents can no longer be read."),
  "wrong-assignment-key": (t) => t("This is not the key of the assignment. Ask its author for the link."),
  "unknown-study": (t) => t("There is no study at this address. Perhaps it was deleted, or the link was cut short."),
  "damaged-study": (t) => t("This study is damaged: its contents can no longer be read."),
  "wrong-study-key": (t) => t("This is not the key of the study. Ask its author for the link."),
  "study-full": (t) => t("The study has no room for another participant, or none from this network."),
  "study-order": (t) => t("This test was sent before or is not open yet. Reload the page to see what comes next."),
  "assignment-full": (t) => t("The assignment has no room for another student, or none from this network."),
  internal: (t) => t("Something went wrong on the server. It has been logged; try again."),
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
  const advice = t("Shorten it, or run its parts one by one.");
  const text = field === "target" ? t("The output is too long") : t("The sentence is too long");
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

/** @param {Translate} t @param {Problem} problem */
export function wording(t, problem) {
  if (problem.kind === "no-means") return t("This model has no mean outputs of its heads.");
  if (problem.kind === "does-not-fit" && problem.field === "options")
    return t("With these options the model has other parameters than the snapshot. Choose other options, or start a new run.");
  if (problem.field.startsWith("interventions")) return t("A change to the model cannot be made.");
  const words = WORDING[problem.kind];
  return words
    ? words(t, problem)
    : t("The request was not understood: {detail}.", { detail: problem.detail });
}
