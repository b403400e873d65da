/** Watch a model learn: a run on the server, live and at every snapshot. */

import { bindApartFromRoom } from "../room/bar-on-other-pages.js";
import { radios } from "../core/figure/controls.js";
import { problemLine } from "../core/figure/figure-status.js";
import { readQuery, writeQuery } from "../core/store/address.js";
import { createApi } from "../core/wire/api.js";
import { Problem } from "../core/wire/reply.js";
import { find, render } from "../lib/dom.js";
import { bindChoices, format, parse } from "../train/options-form.js";
import { bindCommands, bindKeptList } from "../train/run-commands.js";
import { createFollower } from "../train/live-run.js";
import {
  bindProbes, bindStatusLine, bindTimeline, createDisplayedRun, createProbeSource,
} from "../train/displayed-run.js";
import { linkTo, storeOf } from "../views/create-figure.js";
import { VIEWS, view } from "../views/index.js";
import { bindKinds, bindSteppers } from "../workspace/model-map.js";
import { createPageServices } from "../workspace/main-figure.js";

/** @import { LiveRun } from "../train/live-run.js" */

/** @param {import("../workspace/main-figure.js").PageServices} services */
function bindViews({ store, t, figure }) {
  const place = find("#views");
  const show = () => {
    const names = Object.fromEntries(figure.offer().map(({ id, name }) => [id, name(t)]));
    render(place, radios("choice-view", names, view(store.get().link.view).id));
  };
  place.addEventListener("change", ({ target }) => store.go({ view: /** @type {HTMLInputElement} */ (target).value }));
  store.subscribe(({ link }) => link.view, show);
  show();
}

/** Views that need only attention weights. */
const OFFERED = new Set(["attention", "heads", "lines"]);

const { lang = "en", plotly = "", catalog = "" } = find("#train").dataset;

async function start() {
  const api = createApi();
  const linked = parse(readQuery(window));
  const [messages, offered] = await Promise.all([api.catalog(catalog), api.offeredRuns().catch((/** @type {Problem} */ problem) => problem)]);
  const offer = () => VIEWS.filter(({ id }) => OFFERED.has(id));
  const store = storeOf(linkTo({ lang, ...linked.figure }), offer);
  const source = createProbeSource();
  const status = { root: find("#stage") };
  const services = createPageServices({ store, source, offer, status, free: linked.figure.head === undefined }, api, { messages, plotly });
  window.addEventListener("resize", services.figure.resize);
  bindApartFromRoom({ page: services, api });
  bindViews(services);
  bindSteppers(services);
  bindKinds(services);

  const failed = problemLine(services, () => void again());
  find("#problem").replaceWith(failed.element);
  if (offered instanceof Problem) return failed.show(offered);

  const displayed = createDisplayedRun(services, source, { moved: () => draw(), failed: failed.show });
  const follower = createFollower(api, { hear, failed: failed.show });
  const choices = bindChoices(services, offered, { started: open, failed: failed.show, chosen: () => address() });
  const models = bindKeptList(services, { failed: failed.show, changed: () => draw() });
  const commands = bindCommands(services, { displayed, choices, models, failed: failed.show });
  const places = { line: find("#status"), finding: find("#finding"), bar: /** @type {HTMLProgressElement} */ (find("#done")) };
  const parts = [bindStatusLine(services, places), bindTimeline(services, displayed, find("#timeline")), bindProbes(services, displayed), commands];

  /** @param {LiveRun} run */
  function hear(run) {
    failed.show(null);
    displayed.hear(run);
    draw();
  }

  function draw() {
    const run = displayed.run();
    find("#run").hidden = !run;
    find("#invitation").hidden = Boolean(run);
    if (run) parts.forEach((part) => part.show(run));
    address();
  }

  function address() {
    const query = format({ run: displayed.run(), step: displayed.step(), probe: displayed.probe(), options: choices.changed(), link: store.get().link });
    writeQuery(window, `${query}&lang=${lang}`);
    const otherLanguage = /** @type {HTMLAnchorElement} */ (find("#language"));
    otherLanguage.href = `?${query}&lang=${otherLanguage.hreflang}`;
  }

  /** @param {string} id @param {{step?: number | null, probe?: number}} [at] */
  async function open(id, { step = null, probe = 0 } = {}) {
    try {
      const info = await api.readRun(id);
      displayed.open(info, { step, probe });
      choices.fill(info.options, true);
      await follower.follow(info);
    } catch (error) {
      failed.show(/** @type {Problem} */ (error));
    }
  }

  const again = async () => {
    const run = displayed.run();
    if (run) await follower.follow(null);
    else if (linked.run) await open(linked.run, linked);
    else window.location.reload();
  };

  void models.refresh();
  services.onTheme(draw);
  store.subscribe(({ link }) => link, address);
  window.addEventListener("resize", draw);
  window.addEventListener("online", () => void again());
  choices.fill({ ...offered.defaults, ...linked.options });
  if (linked.run) await open(linked.run, linked);
  else address();
}

void start();
