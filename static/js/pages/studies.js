/** The studies that this browser created, and a new one. */

import { bindApartFromRoom } from "../room/bar-on-other-pages.js";
import { listOwned, studyKeys } from "../assignment/owned-pages.js";
import { openPage } from "../core/page/served-page.js";
import { find } from "../lib/dom.js";
import { createStudyMaker } from "../study/new-study.js";

const { lang = "en", catalog = "", lessons = "[]" } = find("#learn").dataset;

async function start() {
  const opened = await openPage({ catalog });
  bindApartFromRoom(opened);
  const { api, page } = opened;
  createStudyMaker({ page, api, lang, root: find("#maker"), lessons: JSON.parse(lessons) });
  const address = (/** @type {string} */ id) => `/study/${id}?lang=${lang}`;
  await listOwned(studyKeys, { read: api.readStudy, unknown: "unknown-study", address, fragment: "results", othersLabel: page.t("As participants see it") });
}

void start();
