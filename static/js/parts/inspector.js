/** The pinned pair, or the one under the pointer, with the numbers that its weight comes from. */

import { attention, axes, lit, pair, place } from "../blocks.js";
import { four, two } from "../caption.js";
import { find, h, step } from "../dom.js";
import { working } from "../attend.js";
import { plane, row } from "../wire.js";

/** @typedef {import("../main.js").Context} Context */
/** @typedef {import("../store.js").Page} Page */
/** @typedef {import("../attend.js").Working} Working */

const TOP = 5;

/** @param {Context} context */
export function bindInspector(context) {
  const { store } = context;
  const show = () => fill(context);
  store.subscribe(show);
  store.watch(show);
  find("#unpin").addEventListener("click", () => store.go({ query: null, key: null }));
  for (const button of find("#inspector").querySelectorAll("[data-move]")) {
    button.addEventListener("click", () =>
      move(store, /** @type {HTMLElement} */ (button).dataset.move ?? ""),
    );
  }
}

/** @param {import("../store.js").Store} store @param {string} where  "row,col" to go by */
function move(store, where) {
  const page = store.get();
  const at = pair(page);
  const matrix = page.trace && attention(page.trace, page.link);
  if (!at || !matrix) return;
  const [down, right] = where.split(",").map(Number);
  const query = Math.min(Math.max(at.query + down, 0), matrix.rows - 1);
  const key = Math.min(Math.max(at.key + right, 0), matrix.cols - 1);
  store.go({ query, key });
}

/** @param {Context} context */
function fill(context) {
  const { store, t } = context;
  const page = store.get();
  const at = pair(page, store.hovered());
  const matrix = page.trace && attention(page.trace, page.link);
  find("#inspector").hidden = !page.trace;
  if (!page.trace || !matrix || !at) return;
  const { rows, cols } = axes(page.trace, page.link.block);
  if (at.query >= rows.length || at.key >= cols.length) return;
  const by = lit(page, store.hovered()).by;
  find("#pair-title").textContent = by === "pin" ? t("Pinned pair") : t("Pair");
  find("#unpin").toggleAttribute("disabled", page.link.query === null);
  find("#pair-query").replaceChildren(step(rows[at.query]));
  find("#pair-key").replaceChildren(step(cols[at.key]));
  const weight = matrix.values[at.query * matrix.cols + at.key];
  find("#pair-mask").textContent = Number.isNaN(weight)
    ? t("masked: the query may not look there")
    : t("open: the query may look there");
  find("#working").replaceChildren(...steps(context, compute(page, matrix, at), weight));
  find("#row-title").replaceChildren(
    ...context.say(t("{query} looks at"), { query: step(rows[at.query]) }),
  );
  find("#row").replaceChildren(...ranking(matrix, at, cols));
}

/**
 * @param {Page} page
 * @param {import("../wire.js").Matrix} matrix
 * @param {{query: number, key: number}} at
 * @returns {Working | null}  null until q and k are here
 */
function compute({ trace, link }, matrix, at) {
  const found = ["q", "k"].map((letter) => trace?.tensors[place(link, letter)]);
  const [q, k] = found.map((tensor) => tensor && plane(tensor, { head: link.head }));
  if (!q || !k) return null;
  return working(
    q,
    k,
    at.query,
    at.key,
    (key) => !Number.isNaN(matrix.values[at.query * matrix.cols + key]),
  );
}

/**
 * @param {Context} context
 * @param {Working | null} work
 * @param {number} weight  the model's own
 */
function steps({ t }, work, weight) {
  const said = Number.isNaN(weight) ? t("masked") : four(weight);
  const result = line(t("weight"), h("b", {}, said));
  if (!work) return [line("q · k", "…"), line("score", "…"), result];
  const { dot, width, score, total, masked } = work;
  const lines = [
    line("q · k", four(dot)),
    line(t("score"), `${four(dot)} / √${width} = `, h("b", {}, four(score))),
  ];
  if (masked) return [...lines, line("softmax", t("left out by the mask")), result];
  return [
    ...lines,
    line("softmax", "e", h("sup", {}, four(score)), " / ", ...amount(total)),
    result,
  ];
}

/** @param {number} value  A sum of exponentials soon outgrows its line. */
function amount(value) {
  if (value < 1e5) return [four(value)];
  const [digits, power] = value.toExponential(4).split("e+");
  return [`${digits} · 10`, h("sup", {}, power)];
}

/** @param {string} name @param {...(string | Node)} value */
function line(name, ...value) {
  return h("div", {}, h("dt", {}, name), h("dd", {}, ...value));
}

/**
 * What the query looks at most, and the key at hand where it is not among them.
 * @param {import("../wire.js").Matrix} matrix
 * @param {{query: number, key: number}} at
 * @param {import("../tokens.js").Step[]} cols
 */
function ranking(matrix, at, cols) {
  const weights = row(matrix, at.query);
  const order = [...weights.keys()].filter((key) => !Number.isNaN(weights[key]));
  order.sort((a, b) => weights[b] - weights[a]);
  return order.filter((key, rank) => rank < TOP || key === at.key).map((key) => {
    const bar = h("span", { className: "bar" });
    bar.style.width = `${weights[key] * 100}%`;
    return h(
      "li",
      { className: key === at.key ? "here" : "" },
      step(cols[key]),
      h("span", { className: "track" }, bar),
      two(weights[key]),
    );
  });
}
