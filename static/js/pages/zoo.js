/** The zoo: small models of a task side by side on the same input, and their measurements. */

import { bindApartFromRoom } from "../room/bar-on-other-pages.js";
import { openRequestingPage } from "../core/page/served-page.js";
import { Problem } from "../core/wire/reply.js";
import { createAsker } from "../core/wire/connection.js";
import { find } from "../lib/dom.js";
import { readQuery, writeQuery } from "../core/store/address.js";
import { served } from "../core/store/data-sources.js";
import { format, parse, stateOfTask, zooWithModels } from "../zoo/zoo-link.js";
import { bindCharts } from "../zoo/charts.js";
import { bindChoices, bindInput, createPanels } from "../zoo/page.js";

/** @import { ZooExampleReply } from "../core/wire/schemas.d.ts" */
/** @import { ZooState } from "../zoo/zoo-link.js" */

const { lang = "en", plotly = "", catalog = "" } = find("#zoo").dataset;

async function start() {
  const opened = await openRequestingPage({ plotly, catalog });
  bindApartFromRoom(opened);
  const { api, page, ask } = opened;
  await ask(
    () => Promise.all([api.zoo(), api.models()]),
    (reply) => {
      const zoo = zooWithModels(...reply);
      if (zoo.models.length) return show(page, api, zoo);
      find("#does").textContent = page.t("This server does not serve the models of the zoo.");
    },
  );
}

/**
 * @param {import("../core/figure/types.js").PageContext & {restyle: () => void}} page
 * @param {import("../core/wire/api.js").Api} api
 * @param {import("../zoo/zoo-link.js").Zoo} zoo
 */
function show(page, api, zoo) {
  let state = parse(readQuery(window), zoo);
  /** @type {ZooExampleReply | null}  that is shown */
  let example = null;
  const asker = createAsker();
  const choices = bindChoices(page, zoo, { get: () => state, change });
  const input = bindInput(page, zoo, { draw: (length) => void ask({ length, seed: dice() }), ask: (source) => void ask({ source }) });
  const panels = createPanels(page, served(api), { lang, pick: (place) => change({ ...state, headsByModel: place }) });
  const charts = bindCharts(page);

  /** @param {ZooState} next */
  function change(next) {
    const moved = next.task !== state.task;
    state = moved ? stateOfTask(zoo, next.task) : next;
    if (moved) return void ask(input.first(state.task));
    refresh();
  }

  /** @param {{source?: string, length?: number, seed?: number}} wanted  a text, or an example of a length */
  async function ask({ source, ...drawn }) {
    const { task } = state;
    const question = (/** @type {AbortSignal} */ signal) =>
      source === undefined ? api.zooExample(task, drawn, signal) : api.zooAnswer(task, source, signal);
    choices.show();
    input.waits();
    const reply = await asker.ask(question, input.fails);
    if (reply === null) return;
    if (reply instanceof Problem) return input.fails(reply);
    example = reply;
    state = { ...state, source: reply.source };
    refresh();
  }

  function refresh() {
    const models = zoo.models.filter(({ name, task }) => task === state.task && state.models.includes(name));
    const link = format(state);
    writeQuery(window, `${link}&lang=${lang}`);
    const otherLanguage = /** @type {HTMLAnchorElement} */ (find("#language"));
    otherLanguage.href = `?${link}&lang=${otherLanguage.hreflang}`;
    choices.show();
    if (example) input.show(example);
    if (example) panels.show(models, state.headsByModel, example);
    charts.show(models, zoo.tasks.find(({ id }) => id === state.task)?.unit ?? "");
  }

  choices.show();
  input.open(state.task, state.source);
  void ask(state.source ? { source: state.source } : input.first(state.task));
}

/** A random seed for the next example. */
const dice = () => Math.floor(Math.random() * 2 ** 31);

void start();
