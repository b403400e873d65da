/** Attention by hand: matrices that are typed, and every step that the server makes of them. */

import { createApi } from "../data/api.js";
import { Problem } from "../data/problem.js";
import { createAsker } from "../data/retry.js";
import { bindTheme } from "../draw/theme.js";
import { find } from "../lib/dom.js";
import { throttle } from "../lib/timing.js";
import { createPageContext } from "../parts/page-context.js";
import { trouble } from "../parts/problem-line.js";
import { readQuery, writeQuery } from "../state/address.js";
import { createHistory } from "../state/history.js";
import { format, parse, request, wrongs } from "../state/lab-matrices.js";
import { preset } from "../state/lab-presets.js";
import { bindChoices } from "./lab/choices.js";
import { bindFormulas } from "./lab/formulas.js";
import { bindMatrices } from "./lab/matrices.js";
import { showSteps } from "./lab/steps.js";

/** @typedef {import("../state/lab-matrices.js").Lab} Lab */

/** Milliseconds between two requests while somebody types. */
const PACE = 80;

const { lang = "en", catalog = "" } = find("#lab").dataset;

async function start() {
  const api = createApi((...request) => fetch(...request));
  const page = createPageContext(window, { messages: await api.catalog(catalog), live: find("#announce") });
  const past = createHistory(parse(readQuery(window), preset("identity")));
  const asker = createAsker();
  const worked = find("#steps");
  const failed = trouble(page, () => void ask());
  find("#problem").replaceWith(failed.element);
  /** @type {import("../state/lab-steps.js").Answer | null} */
  let answer = null;
  /** @type {Lab | null}  that the answer is of */
  let answered = null;

  async function ask() {
    const lab = past.present();
    if (Object.keys(wrongs(lab)).length) return;
    worked.setAttribute("aria-busy", "true");
    const found = await asker.ask((signal) => api.lab(request(lab), signal), failed.show);
    if (found === null) return;
    worked.removeAttribute("aria-busy");
    if (found instanceof Problem) return failed.show(found);
    failed.show(null);
    [answer, answered] = [found, lab];
    drawSteps();
  }
  const asking = throttle(() => void ask(), PACE);
  const drawSteps = () => answer && answered && showSteps(page, answered, answer);

  /** @param {Lab} next @param {string} [what]  changes of one thing in a row are undone together */
  function change(next, what) {
    past.change(next, what);
    show();
  }
  const choices = bindChoices(page, { get: past.present, change, undo: past.undo, redo: past.redo, show: () => show() });
  const matrices = bindMatrices(page, { get: past.present, change });

  function show() {
    const lab = past.present();
    const wrong = wrongs(lab);
    choices.show(lab, past);
    matrices.show(lab, wrong);
    if (Object.keys(wrong).length) return;
    const link = format(lab);
    writeQuery(window, `${link}&lang=${lang}`);
    const other = /** @type {HTMLAnchorElement} */ (find("#language"));
    other.href = `?${link}&lang=${other.hreflang}`;
    asking.later();
  }
  bindTheme(window, /** @type {HTMLButtonElement} */ (find("#theme")), page.restyle);
  page.onTheme(() => {
    matrices.show(past.present(), wrongs(past.present()));
    drawSteps();
  });
  show();
  bindFormulas(page);
}

void start();
