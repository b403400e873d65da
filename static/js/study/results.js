/** The author's side of a study: its link, the gains by arm, item and misunderstanding, the table. */

import { createOwnerPanel, studyKeys } from "../assignment/owned-pages.js";
import { el, h, render } from "../lib/dom.js";
import { change, two } from "../lib/numbers.js";

/** @import { StudyReply, StudyResults } from "../core/wire/schemas.d.ts" */
/** @typedef {StudyResults["arms"][number]} Arm */

/** Of a row of the plot, in pixels. */
const [WIDE, HIGH, EDGE] = [140, 20, 7];
/** Misunderstandings that are in sight. */
const MOST_CHOSEN = 6;

/**
 * @param {{page: import("../core/figure/types.js").PageContext, api: import("../core/wire/api.js").Api, root: HTMLElement, lang: string}} services
 * @param {StudyReply} study
 */
export function showStudyResults({ page, api, root, lang }, { id, url }) {
  const { t } = page;
  const key = studyKeys.keyOf(id);
  const tables = h("div", { className: "study-results" });
  const panel = createOwnerPanel(page, {
    label: t("Your study"),
    owner: `${url}#key=${key}`,
    invitation: { label: t("Link for participants"), url, says: t("Participants open this link. Each is assigned to an arm at random.") },
    files: [{ label: t("Download the answers (CSV)"), name: `study-${id}.csv`, read: () => api.studyTable(id, key) }],
    read: () => api.studyResults(id, key, lang),
    count: (/** @type {StudyResults | null} */ results) => results?.participants ?? 0,
    counted: (n) => (n === 1 ? t("1 participant has begun") : t("{n} participants have begun", { n })),
    drawn: (results) => render(tables, overview(results), results.comparisons.map((comparison) => versus(comparison, results.arms[0].name)), results.arms.filter(({ learned }) => learned.n).map(details), method()),
    sure: t("Delete the study and all answers?"),
    remove: () => api.deleteStudy(id, key),
    removed: () => {
      studyKeys.forget(id);
      root.replaceChildren(h("p", { role: "status" }, t("The study was deleted with all answers."), " ", h("a", { href: `/study?lang=${lang}` }, t("Your studies"))));
    },
  });
  root.replaceChildren(panel.element, tables);

  /** @param {StudyResults} results */
  function overview({ arms }) {
    const later = arms.some((arm) => arm.kept.n);
    const names = [t("Arm"), t("began"), t("both tests"), t("first test"), t("second test"), t("gain"), t("normalized gain"), t("Cohen’s d"), t("minutes"), ...(later ? [t("third test")] : [])];
    const row = (/** @type {Arm} */ { name, assigned, learned, kept: retained, minutes }) =>
      el(
        "tr",
        { key: name },
        el("th", { scope: "row" }, name),
        ...[String(assigned), String(learned.n), score(learned.before), score(learned.after), gain(learned.gain), number(learned.normalized), effect(learned.effect), minutes === null ? "–" : String(Math.round(minutes)), ...(later ? [retained.n ? t("{score} (of {n})", { score: score(retained.after), n: retained.n }) : "–"] : [])].map((words, i) => el("td", { key: i }, words)),
      );
    return scrolled("arms", t("Scores by arm"), names, arms.map(row));
  }

  /** @param {StudyResults["comparisons"][number]} comparison @param {string} first */
  function versus({ name, difference, effect: size }, first) {
    if (difference === null) return null;
    const words = difference >= 0 ? t("“{name}” gained {difference} more than “{first}”.", { name, first, difference: two(difference) }) : t("“{name}” gained {difference} less than “{first}”.", { name, first, difference: two(-difference) });
    return el("p", { key: `versus ${name}`, className: "finding" }, words, " ", size && t("Cohen’s d of the gains: {effect}.", { effect: effect(size) }));
  }

  /** @param {Arm} arm */
  function details(arm) {
    const items = arm.items.map((item) =>
      el("tr", { key: item.item }, el("th", { scope: "row" }, el("a", { href: `/study/inventory?lang=${lang}#${item.item}` }, `${item.number}. ${item.about}`)), el("td", { key: "plot" }, dumbbell(item.before, item.after)), ...[number(item.before), number(item.after), gain(item.gain), number(item.normalized)].map((words, i) => el("td", { key: i }, words))),
    );
    const chosen = arm.misunderstandings
      .filter(({ before, after }) => before || after)
      .sort((a, b) => (b.after ?? 0) - (a.after ?? 0) || (b.before ?? 0) - (a.before ?? 0))
      .map(({ kind, about, before, after }) => el("tr", { key: kind }, el("th", { scope: "row" }, about), el("td", { key: "plot" }, dumbbell(before, after)), el("td", { key: 0 }, number(before)), el("td", { key: 1 }, number(after))));
    return el(
      "section",
      { key: `arm ${arm.name}`, "aria-label": arm.name },
      el("h2", {}, arm.name),
      scrolled("items", t("Right answers by item (○ first test, ● second test)"), [t("Item"), "", t("first test"), t("second test"), t("gain"), t("normalized gain")], items),
      chosen.length > 0 && kinds(chosen.slice(0, MOST_CHOSEN)),
      chosen.length > MOST_CHOSEN && el("details", {}, el("summary", {}, t("All that were chosen")), kinds(chosen)),
    );
  }

  /** @param {import("../lib/dom.js").Child[]} rows */
  const kinds = (rows) => scrolled("kinds", t("Misunderstandings, the most frequent ones in the second test first"), [t("Chosen"), "", t("first test"), t("second test")], rows);

  const method = () =>
    el("details", { key: "method" }, el("summary", {}, t("How this is computed")), el("p", {}, t("Scores are shares of right answers; a question without an answer is not right. Only participants who took both tests count. Half of each arm began with form A, half with form B. The normalized gain is (after − before) / (1 − before) of the means (Hake 1998). Cohen’s d divides the mean gain by √((s²before + s²after) / 2), with the 95 % interval of Bonett (2008); between two arms it divides the difference of the mean gains by their pooled standard deviation, with the interval of Hedges and Olkin (1985). The intervals are approximations: in simulated studies with 8 and more participants in an arm, 94 to 96 of 100 had the true effect.")));

  panel.draw();
  void panel.refresh();
}

const number = (/** @type {number | null} */ value) => (value === null ? "–" : two(value));
const gain = (/** @type {number | null} */ value) => (value === null ? "–" : change(value));
const score = (/** @type {{mean: number | null, sd: number | null}} */ { mean, sd }) => (mean === null ? "–" : sd === null ? two(mean) : `${two(mean)} ± ${two(sd)}`);
const effect = (/** @type {{d: number, low: number, high: number} | null} */ size) => (size ? `${two(size.d)} [${two(size.low)}, ${two(size.high)}]` : "–");

/** Two shares on a line from 0 to 1. @param {number | null} before @param {number | null} after */
function dumbbell(before, after) {
  if (before === null || after === null) return null;
  const x = (/** @type {number} */ share) => EDGE + share * (WIDE - 2 * EDGE);
  const middle = HIGH / 2;
  return el(
    "svg",
    { class: "dumbbell", viewBox: `0 0 ${WIDE} ${HIGH}`, width: WIDE, height: HIGH, "aria-hidden": "true" },
    el("line", { key: "scale", class: "scale", x1: x(0), x2: x(1), y1: middle, y2: middle }),
    el("line", { key: "step", class: after < before ? "step lost" : "step", x1: x(before), x2: x(after), y1: middle, y2: middle }),
    el("circle", { key: "before", class: "before", cx: x(before), cy: middle, r: 4.5 }),
    el("circle", { key: "after", class: "after", cx: x(after), cy: middle, r: 4.5 }),
  );
}

/** @param {string} key @param {string} caption @param {string[]} names @param {import("../lib/dom.js").Child[]} rows */
function scrolled(key, caption, names, rows) {
  return el("div", { key, className: `study-table ${key}`, tabIndex: 0, role: "region", "aria-label": caption }, el("table", {}, el("caption", {}, caption), el("thead", {}, el("tr", {}, names.map((name, i) => el(name ? "th" : "td", { key: i, ...(name ? { scope: "col" } : {}) }, name)))), el("tbody", {}, rows)));
}
