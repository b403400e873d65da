/** An assignment: its questions or, with its key, what was answered. */

import { showResults, showSheet } from "../assignment/answering-and-results.js";
import { assignmentKeys, openSides } from "../assignment/owned-pages.js";
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
