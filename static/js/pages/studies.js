/** The studies that this browser created, and a new one: its arms, and what each of them reads. */

import { listOwned, studyKeys } from "../assignment/owned-pages.js";
import { wording } from "../core/figure/problem-wording.js";
import { COLLECTION_ADDRESS } from "../core/page/own-collections.js";
import { openPage } from "../core/page/served-page.js";
import { Problem, failure } from "../core/wire/reply.js";
import { el, find, render } from "../lib/dom.js";
import { bindApartFromRoom } from "../room/bar-on-other-pages.js";

/** @typedef {{name: string, pages: {link: string, title: string}[], pasted: string}} Arm */

const [MAX_ARMS, MAX_PAGES, MAX_NAME, MAX_TITLE, MAX_NOTE] = [4, 16, 60, 200, 2000];
/** Days from the second test to a third one; 0: there is none. */
const DELAYS = [0, 7, 14, 28];

/**
 * @param {object} plan
 * @param {import("../core/figure/types.js").PageContext} plan.page
 * @param {import("../core/wire/api.js").Api} plan.api
 * @param {string} plan.lang
 * @param {HTMLElement} plan.root
 * @param {{link: string, title: string}[]} plan.lessons
 */
function createStudyMaker({ page, api, lang, root, lessons }) {
  const { t } = page;
  /** @type {Arm[]} */
  let arms = [{ name: t("Lessons"), pages: [], pasted: "" }];
  let [title, note, delay, busy] = ["", "", 0, false];
  /** @type {Problem | null} */
  let problem = null;

  async function make() {
    if (busy) return;
    busy = true;
    draw();
    const body = { title: title.trim(), note: note.trim(), arms: arms.map(({ name, pages }) => ({ name: name.trim(), pages: pages.map(({ link, title: page }) => (lessons.some((lesson) => lesson.link === link) ? { link } : { link, title: page.slice(0, MAX_TITLE) })) })), later_days: delay || null };
    const study = await api.createStudy(body).catch(failure);
    busy = false;
    problem = study instanceof Problem ? study : null;
    if (study instanceof Problem) return draw();
    studyKeys.remember({ id: study.id, title: body.title, key: study.key });
    window.location.assign(`/study/${study.id}?lang=${lang}#results`);
  }

  /** @param {Arm} arm @param {{link: string, title: string}[]} pages */
  function add(arm, pages) {
    arm.pages = [...arm.pages, ...pages.filter(({ link }) => !arm.pages.some((page) => page.link === link))].slice(0, MAX_PAGES);
    draw();
  }

  /** Add a page of this server. @param {Arm} arm */
  async function paste(arm) {
    const pasted = arm.pasted.trim();
    if (!pasted || busy) return;
    busy = true;
    const [, collection] = pasted.match(COLLECTION_ADDRESS) ?? [];
    const page = await (collection ? api.readCollection(collection).then(({ title }) => ({ link: `/c/${collection}`, title })) : api.link(pasted, lang)).catch(failure);
    busy = false;
    problem = page instanceof Problem ? page : null;
    if (page instanceof Problem) return draw();
    arm.pasted = "";
    add(arm, [{ link: page.link, title: page.title || page.link }]);
  }

  /** @param {Arm} arm @param {number} i */
  function armFields(arm, i) {
    const chosen = (/** @type {any} */ { target }) => {
      const { value } = target;
      target.value = "";
      add(arm, value === "all" ? lessons : lessons.filter(({ link }) => link === value));
    };
    const pages = arm.pages.map(({ link, title: name }, n) => el("li", { key: link }, el("span", { className: "asks" }, name), el("button", { type: "button", className: "button quiet", "aria-label": t("Leave out {page}", { page: name }), title: t("Leave out {page}", { page: name }), onclick: () => ((arm.pages = arm.pages.filter((_, place) => place !== n)), draw()) }, "×")));
    return el(
      "fieldset",
      { key: `arm ${i}`, className: "arm" },
      el("legend", {}, t("Arm {n}", { n: i + 1 })),
      el("label", {}, el("span", {}, t("Its name, which participants do not see")), el("input", { type: "text", required: true, maxLength: MAX_NAME, value: arm.name, autocomplete: "off", oninput: (/** @type {any} */ { target }) => ((arm.name = target.value), draw()) })),
      pages.length > 0 ? el("ol", { className: "chosen" }, pages) : el("p", { className: "says" }, t("Nothing to read yet: without pages it is a control group.")),
      el(
        "label",
        {},
        el("span", {}, t("Add a lesson")),
        el("select", { value: "", onchange: chosen }, el("option", { key: "", value: "" }, t("choose …")), el("option", { key: "all", value: "all" }, t("all lessons")), lessons.map(({ link, title: name }) => el("option", { key: link, value: link }, name))),
      ),
      el("label", {}, el("span", {}, t("Or paste the link of any page of this server")), el("span", { className: "together" }, el("input", { type: "text", inputMode: "url", autocomplete: "off", spellcheck: false, value: arm.pasted, oninput: (/** @type {any} */ { target }) => (arm.pasted = target.value) }), el("button", { type: "button", className: "button", onclick: () => void paste(arm) }, t("Add the page")))),
      arms.length > 1 && el("p", {}, el("button", { type: "button", className: "button quiet", onclick: () => ((arms = arms.filter((remaining) => remaining !== arm)), draw()) }, t("Remove this arm"))),
    );
  }

  function draw() {
    const typed = (/** @type {(text: string) => void} */ set) => (/** @type {any} */ { target }) => (set(target.value), draw());
    const delayName = (/** @type {number} */ days) => (days ? t("{n} days after the second one", { n: days }) : t("no third test"));
    render(
      root,
      problem && el("p", { key: "problem", className: "problem", role: "alert" }, wording(t, problem)),
      el(
        "form",
        { key: "form", className: "making", onsubmit: (/** @type {Event} */ event) => (event.preventDefault(), void make()) },
        el("label", { key: "title" }, el("span", {}, t("Title")), el("input", { type: "text", required: true, maxLength: MAX_TITLE, value: title, autocomplete: "off", oninput: typed((text) => (title = text)) })),
        el("label", { key: "note" }, el("span", {}, t("Note to the participants (optional)")), el("textarea", { rows: 2, maxLength: MAX_NOTE, value: note, oninput: typed((text) => (note = text)) })),
        arms.map(armFields),
        arms.length < MAX_ARMS && el("p", { key: "more" }, el("button", { type: "button", className: "button", onclick: () => ((arms = [...arms, { name: arms.length === 1 ? t("Control group") : "", pages: [], pasted: "" }]), draw()) }, t("Add an arm"))),
        el("label", { key: "delay" }, el("span", {}, t("A third test, to see what is kept")), el("select", { value: String(delay), onchange: (/** @type {any} */ { target }) => (delay = Number(target.value)) }, DELAYS.map((days) => el("option", { key: days, value: String(days) }, delayName(days))))),
        el("p", { key: "make" }, el("button", { type: "submit", className: "button strong", "aria-disabled": String(busy), disabled: !title.trim() }, t("Create the study"))),
      ),
    );
  }

  draw();
}

// The page.

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
