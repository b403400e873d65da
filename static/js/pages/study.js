/** A study: the tests of a participant or, with its key, the results. */

import { keepPart, openSides, partIn, studyKeys } from "../assignment/owned-pages.js";
import { find } from "../lib/dom.js";
import { showParticipant, showStudyResults } from "../study/participating-and-results.js";

const { study: id = "", title = "" } = find("#learn").dataset;

void openSides(studyKeys, {
  id,
  fragment: "results",
  read: (api) => api.readStudy(id),
  /** A participant's own link has the token. */
  take(word, secret) {
    if (word === "key") studyKeys.remember({ id, title, key: secret });
    else if (word === "me" && partIn(id)?.member !== secret) keepPart(id, { member: secret, read: false, answers: [] });
  },
  showOwner: showStudyResults,
  showOthers: showParticipant,
});
