/** The assignments that this browser created, and a new one, from the questions of links. */

import { bindApartFromRoom } from "../room/bar-on-other-pages.js";
import { openPage } from "../core/page/served-page.js";
import { find } from "../lib/dom.js";
import { readQuery } from "../core/store/address.js";
import { assignmentKeys, listOwned } from "../assignment/owned-pages.js";
import { collectionKeys } from "../core/page/own-collections.js";
import { createMaker } from "../assignment/new-assignment.js";

const { lang = "en", catalog = "" } = find("#learn").dataset;

async function start() {
  const opened = await openPage({ catalog });
  bindApartFromRoom(opened);
  const { api, page } = opened;
  const maker = createMaker({ page, api, lang, root: find("#maker"), menu: find("#taken"), collections: collectionKeys.all() });
  const of = new URLSearchParams(readQuery(window)).get("of");
  if (of) void maker.take(of);
  const address = (/** @type {string} */ id) => `/a/${id}?lang=${lang}`;
  await listOwned(assignmentKeys, { read: api.readAssignment, unknown: "unknown-assignment", address, fragment: "answers", othersLabel: page.t("As students see it") });
}

void start();
