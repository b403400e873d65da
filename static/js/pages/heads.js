/** All heads of a model: a scatter of two measures; the table is in the page already. */

import { distinct } from "../core/draw/plotly-figure.js";
import { createPlot } from "../core/draw/plotly.js";
import { wording } from "../core/figure/problem-wording.js";
import { words } from "../core/figure/zoom.js";
import { openRequestingPage } from "../core/page/served-page.js";
import { readQuery, writeQuery } from "../core/store/address.js";
import { Problem, failure } from "../core/wire/reply.js";
import { keep, readStored } from "../lib/browser.js";
import { find } from "../lib/dom.js";
import { four, two } from "../lib/numbers.js";
import { whileBusy } from "../lib/timing.js";
import { bindApartFromRoom } from "../room/bar-on-other-pages.js";

/** @import { Theme } from "../core/page/page-context.js" */
/** @import { CorpusReply, SurveyedHeadReply } from "../core/wire/schemas.d.ts" */
/** @import { Translate } from "../lib/i18n.js" */

// A text of the reader's: sent from the form, followed until it is indexed, and deleted.

const POLL_MS = 500;
const nameOf = (/** @type {string} */ id) => `corpus-${id}`;

const disk = (/** @type {Translate} */ t) => t("The server could not write to its disk. Try again later.");

/** @type {Record<string, (t: Translate) => string>} */
const WHY = {
  unreadable: (t) => t("The model can read none of these sentences: they may be too long for it."),
  "too-slow": (t) => t("Measuring took longer than the server allows. Send fewer sentences."),
  stopped: (t) => t("The server was restarted meanwhile. Send the text again."),
  "storage-full": disk,
  "storage-unavailable": disk,
};

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 * @param {{model: string, corpus: string, ready: boolean, lang: string}} at
 */
function bindOwnText(page, api, { model, corpus, ready, lang }) {
  const address = (/** @type {string} */ id) => `?${new URLSearchParams({ lang, ...(id && { corpus: id }) })}`;
  if (ready) return bindDeletion(page, api, corpus, address(""));
  if (!document.querySelector("#own-text")) return;
  const { t } = page;
  const form = /** @type {HTMLFormElement} */ (find("#text-form"));
  const progress = find("#text-progress");
  const [status, bar, cancel] = [find("p", progress), /** @type {HTMLProgressElement} */ (find("progress", progress)), find("button", progress)];
  const line = find("#text-problem");
  const field = (/** @type {string} */ name) => /** @type {HTMLInputElement} */ (form.elements.namedItem(name));
  let followedId = "";

  /** @param {string} words */
  function fail(words) {
    followedId = "";
    [form.hidden, progress.hidden, line.hidden, line.textContent] = [false, true, !words, words];
  }

  /** @param {CorpusReply} told */
  function show({ state, done, of, given: sentenceCount }) {
    [form.hidden, progress.hidden, line.hidden] = [true, false, true];
    if (state === "running" && of) bar.value = done / of;
    else bar.removeAttribute("value");
    status.textContent = state === "queued" ? t("Waiting for the server: {n} sentences.", { n: sentenceCount }) : t("Measuring: {done} of {all} sentences.", { done, all: of });
  }

  /** @param {string} id */
  async function follow(id) {
    followedId = id;
    cancel.hidden = !readStored(nameOf(id));
    while (followedId === id) {
      const corpusState = await api.corpus(id).catch(failure);
      if (followedId !== id) return;
      if (corpusState instanceof Problem) return fail(wording(t, corpusState));
      if (corpusState.state === "done") return window.location.assign(address(id));
      if (corpusState.state === "failed") return fail((WHY[corpusState.why ?? ""] ?? (() => t("Measuring failed. It has been logged; try again.")))(t));
      show(corpusState);
      await new Promise((after) => setTimeout(after, POLL_MS));
    }
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const send = /** @type {HTMLButtonElement} */ (find("button", form));
    const [text, split, title] = ["text", "split", "title"].map((name) => field(name).value);
    const created = await whileBusy(() => api.sendCorpus({ model, text, split: split === "lines" ? "lines" : "sentences", title }).catch(failure), send);
    if (created instanceof Problem) return fail(wording(t, created));
    keep(nameOf(created.id), created.key);
    show(created);
    await follow(created.id);
  });
  field("file").addEventListener("change", async () => {
    const [file] = field("file").files ?? [];
    if (!file) return;
    field("text").value = await file.text();
    field("title").value ||= file.name.slice(0, 100);
  });
  cancel.addEventListener("click", async () => {
    const id = followedId;
    fail("");
    const failed = await api.deleteCorpus(id, readStored(nameOf(id)) ?? "").catch(failure);
    if (failed instanceof Problem) fail(wording(t, failed));
    else keep(nameOf(id), null);
  });
  form.hidden = false;
  if (corpus) void follow(corpus);
}

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 * @param {string} corpus
 * @param {string} after  where to go then
 */
function bindDeletion({ t }, api, corpus, after) {
  const [line, key] = [find("#delete-text"), readStored(nameOf(corpus))];
  if (!key) return;
  line.hidden = false;
  find("button", line).addEventListener("click", async () => {
    const failed = await api.deleteCorpus(corpus, key).catch(failure);
    if (failed instanceof Problem) return void (find("span", line).textContent = wording(t, failed));
    keep(nameOf(corpus), null);
    window.location.assign(after);
  });
}

/** @typedef {{name: string, color: string, symbol: string, points: {x: number, y: number, says: string}[]}} Group */

const BUTTONS = [["toImage"], ["zoom2d", "pan2d"], ["zoomIn2d", "zoomOut2d", "resetScale2d"]];

/**
 * @param {{groups: Group[], titles: {x: string, y: string}}} shown
 * @param {{width: number, height: number}} size
 * @param {Theme} theme
 * @param {Record<string, string>} dictionary  of the toolbar
 * @returns {import("../core/draw/plotly.js").Figure}
 */
function figure({ groups, titles }, size, theme, dictionary) {
  const font = { family: theme.font, size: theme.size, color: theme.ink };
  const axis = (/** @type {string} */ text) => ({
    title: { text, standoff: 10, font: { ...font, color: theme.muted } },
    gridcolor: theme.rule,
    zerolinecolor: theme.hatch,
    linecolor: theme.muted,
  });
  return {
    data: groups.map(({ name, color, symbol, points }) => ({
      type: "scatter",
      mode: "markers",
      name,
      x: points.map(({ x }) => x),
      y: points.map(({ y }) => y),
      text: points.map(({ says: label }) => distinct([label])[0].replaceAll("\n", "<br>")),
      hovertemplate: "%{text}<extra></extra>",
      marker: { color, symbol, size: 11, opacity: 0.85, line: { color: theme.paper, width: 1 } },
    })),
    layout: {
      ...size,
      uirevision: titles.x + titles.y,
      margin: { l: 64, t: 32, r: 16, b: 56 },
      paper_bgcolor: theme.paper,
      plot_bgcolor: theme.paper,
      font,
      hovermode: "closest",
      dragmode: "zoom",
      showlegend: true,
      legend: { orientation: "h", x: 0, y: 1.02, xanchor: "left", yanchor: "bottom", itemclick: false, itemdoubleclick: false },
      modebar: { bgcolor: theme.paper, color: theme.muted, activecolor: theme.ink },
      hoverlabel: { bgcolor: theme.paper, bordercolor: theme.muted, align: "left", font },
      xaxis: axis(titles.x),
      yaxis: axis(titles.y),
    },
    config: { displayModeBar: true, displaylogo: false, modeBarButtons: BUTTONS, locale: "own", locales: { own: { dictionary, format: {} } } },
  };
}

const { lang = "en", model = "", corpus = "", ready = "", plotly = "", catalog = "" } = find("#heads").dataset;
/** @type {Record<string, string>} */
const OVER = corpus ? { corpus } : {};
const PATTERN = "pattern.";

async function start() {
  const opened = await openRequestingPage({ plotly, catalog });
  bindApartFromRoom(opened);
  bindOwnText(opened.page, opened.api, { model, corpus, ready: Boolean(ready), lang });
  if (opened.page.plotter) await opened.ask((signal) => opened.api.headSurvey(model, ready && corpus, signal), ({ heads }) => show(opened, heads));
}

/** @param {import("../core/page/served-page.js").RequestingPage} opened @param {SurveyedHeadReply[]} heads */
function show({ page, fail }, heads) {
  if (!page.plotter) return;
  const form = /** @type {HTMLFormElement} */ (find("#axes"));
  const area = find("#scatter");
  form.hidden = area.hidden = false;
  const x = /** @type {HTMLSelectElement} */ (find("[name=x]", form));
  const y = /** @type {HTMLSelectElement} */ (find("[name=y]", form));
  const params = new URLSearchParams(readQuery(window));
  for (const select of [x, y]) {
    const measured = [...select.options].filter(({ value }) => heads.some((head) => valueOf(head, value) !== null));
    for (const option of [...select.options]) if (!measured.includes(option)) option.remove();
    if (measured.some(({ value }) => value === params.get(select.name))) select.value = params.get(select.name) ?? "";
  }
  /** @type {HTMLElement[][]}  the table's row of each point of each group */
  let rows = [];
  const plot = createPlot(area, page.plotter, {
    plotly_click: ({ points: [{ curveNumber, pointNumber }] }) => find("a", rows[curveNumber][pointNumber]).click(),
    plotly_hover: ({ points: [{ curveNumber, pointNumber }] }) => light(rows[curveNumber][pointNumber]),
    plotly_unhover: () => light(null),
  });

  function draw() {
    const theme = page.theme();
    const colors = [theme.attention, theme.k, theme.v, theme.q];
    const symbols = ["circle", "square", "diamond", "triangle-up"];
    const table = heads.map((head) => ({ head, row: rowOf(head), at: { x: valueOf(head, x.value), y: valueOf(head, y.value) } }));
    const plotted = table.filter(({ at: point }) => point.x !== null && point.y !== null);
    const names = [...new Set(plotted.map(({ row }) => row.dataset.block ?? ""))];
    rows = names.map((name) => plotted.filter(({ row }) => row.dataset.block === name).map(({ row }) => row));
    const groups = names.map((name, i) => ({
      name,
      color: colors[i % colors.length],
      symbol: symbols[i % symbols.length],
      points: plotted.filter(({ row }) => row.dataset.block === name).map(({ row, at: point }) => ({ x: Number(point.x), y: Number(point.y), says: hoverText(row, Number(point.x), Number(point.y)) })),
    }));
    const titles = { x: label(x), y: label(y) };
    const size = { width: area.clientWidth, height: area.clientHeight };
    plot.show(figure({ groups, titles }, size, theme, words(page.t))).then(() => fail(null, draw), () => fail(new Problem("unloaded"), draw));
  }

  /** The other language shows the same axes. */
  function link() {
    const otherLanguage = /** @type {HTMLAnchorElement} */ (find("#language"));
    otherLanguage.href = `?${new URLSearchParams({ x: x.value, y: y.value, lang: otherLanguage.hreflang, ...OVER })}`;
  }

  form.addEventListener("change", () => {
    writeQuery(window, String(new URLSearchParams({ x: x.value, y: y.value, lang, ...OVER })));
    link();
    draw();
  });
  link();
  let width = 0;
  new ResizeObserver(() => {
    if (width !== area.clientWidth) draw();
    width = area.clientWidth;
  }).observe(area);
  page.onTheme(draw);
}

/** @param {SurveyedHeadReply} head @param {string} name  of a measure, a pattern or a cost */
function valueOf({ measures, patterns, cost }, name) {
  if (name.startsWith(PATTERN)) return patterns[name.slice(PATTERN.length)] ?? null;
  return (name === "zero" ? cost?.zero : measures[name]) ?? null;
}

/** @param {SurveyedHeadReply} head */
const rowOf = ({ place, head }) => find(`tr[data-place="${place}"][data-head="${head}"]`);

/** @param {HTMLElement} row @param {number} x @param {number} y */
const hoverText = (row, x, y) => [find("a", row).textContent, find(".says", row).textContent, `${two(x)} · ${(Math.abs(y) < 0.1 ? four : two)(y)}`].join("\n");

/** @param {HTMLSelectElement} select */
const label = (select) => select.selectedOptions[0]?.textContent ?? "";

/** @param {HTMLElement | null} row */
function light(row) {
  document.querySelector("tr.lit")?.classList.remove("lit");
  row?.classList.add("lit");
}

void start();
