/** Attention by hand: the lab's figure, its link, and formulas to try with other numbers. */

import { bindSharePanel, dateText, senderText } from "../share/share-panel.js";
import { takeHandover } from "../room/bar.js";
import { Problem, failure } from "../core/wire/reply.js";
import { isExploring } from "../room/room-storage.js";
import { openPage } from "../core/page/served-page.js";
import { find } from "../lib/dom.js";
import { createLabFigure } from "../lab/figure/lab-figure.js";
import { wording } from "../core/figure/problem-wording.js";
import { currentUrl, readQuery, writeQuery } from "../core/store/address.js";
import { format, invalidCells, labOfShare, parse, preset, shareState } from "../lab/lab-link.js";
import { bindExports, bindFormulas, bindLabProjector, labShape } from "../lab/page.js";
import { bindLabRoom } from "../room/presented-lab.js";

const LAB = "/lab";
const { lang = "en", catalog = "", share: id = "", room, roomLink = "", screen } = find("#lab").dataset;

async function start() {
  if (takeHandover(find("#lab").dataset)) return;
  const { api, page } = await openPage({ catalog });
  const share = id ? await api.readLabShare(id).catch(failure) : null;
  if (share instanceof Problem) return void (find("#figure").textContent = wording(page.t, share));
  const query = room && !isExploring(room) ? new URL(roomLink, window.location.origin).search : readQuery(window);
  const first = share ? labOfShare(share) : { lab: parse(query, preset("identity")), known: null };
  const frozen = share && format(first.lab);
  const params = new URLSearchParams(query);
  /** @type {ReturnType<typeof createLabFigure> | null} */
  let figure = null;
  /** Tells a room of a change. */
  let changed = () => {};
  const formulas = bindFormulas(page, api, params, again);
  const projector = bindLabProjector(page, { startsOn: new URLSearchParams(readQuery(window)).get("projector") === "1" || screen === "yes", subject: () => JSON.stringify([formulas.shown(), labShape(figure?.lab())]), changed: again });
  const root = find("#lab");
  const jumps = /** @type {HTMLAnchorElement[]} */ ([...root.querySelectorAll(".jumps a")]);
  const otherLanguage = /** @type {HTMLAnchorElement} */ (find("#language"));

  /**
   * Write the address: that of the share as long as nothing is changed.
   * @param {import("../lab/matrices.js").Lab} lab
   */
  function onChange(lab) {
    const link = format(lab);
    const addressOf = link === frozen ? { path: `/s/${id}`, query: "" } : { path: LAB, query: `${link}&` };
    const beside = `${formulas.query()}${projector.on() ? "&projector=1" : ""}${screen === "yes" ? "&screen=1" : ""}`;
    const path = room ? "" : addressOf.path; // a room has its own
    writeQuery(window, `${addressOf.query}lang=${lang}${beside}`, path);
    otherLanguage.href = `${path}?${addressOf.query}lang=${otherLanguage.hreflang}${beside}`;
    find("#frozen").hidden = link !== frozen || formulas.shown() !== "";
    root.toggleAttribute("data-formula", formulas.shown() !== "");
    projector.follow();
    changed();
    jumps.forEach((jump) => (jump.dataset.to === formulas.shown() ? jump.setAttribute("aria-current", "true") : jump.removeAttribute("aria-current")));
  }

  function again() {
    figure?.again();
  }

  if (share) {
    const saved = page.t("Saved {when}. What you change opens as a page of your own.", { when: dateText(share.created) });
    find("#frozen-says").textContent = [senderText(page.t, share), saved].filter(Boolean).join(" ");
    /** @type {HTMLAnchorElement} */ (find("#open-live")).href = `${LAB}?${format(first.lab)}&lang=${lang}`;
  }
  formulas.go(params.get("show") ?? "");
  const beside = { label: page.t("Formulas"), ...formulas };
  const labFigure = (figure = createLabFigure({ root: find("#figure"), page, ...first, compute: api.lab, beside, onChange }));
  for (const jump of jumps)
    jump.addEventListener("click", (event) => {
      event.preventDefault();
      formulas.go(jump.dataset.to ?? "");
    });
  const { t } = page;
  /** @param {import("../core/wire/schemas.d.ts").About} [about] */
  async function make(about) {
    if (formulas.shown()) return { url: currentUrl(window) };
    if (Object.keys(invalidCells(labFigure.lab())).length) throw new Problem("wrong-cells");
    return api.share({ state: shareState(labFigure.lab(), lang), about });
  }
  changed = bindLabRoom(page, api, labFigure);
  bindExports(page, labFigure, lang, api);
  bindSharePanel({ t, api, lang, title: () => t("Attention by hand"), make });
}

void start();
