/** An assignment: its questions or, with its key, what was answered. */

import { showSheet } from "../assignment/answer-sheet.js";
import { assignmentKeys, openSides } from "../assignment/owned-pages.js";
import { showResults } from "../assignment/results.js";
import { find } from "../lib/dom.js";

const { assignment: id = "", title = "" } = find("#learn").dataset;

void openSides(assignmentKeys, {
  id,
  fragment: "answers",
  read: (api) => api.readAssignment(id),
  take: (word, key) => word === "key" && assignmentKeys.remember({ id, title, key }),
  showOwner: showResults,
  showOthers: showSheet,
});
