/**
 * The wall on the teacher's page: what each member explores, as small figures without names. She opens
 * it, members are told, and what she picks is shown to everyone with a word of thanks.
 */

import { wording } from "../core/figure/problem-wording.js";
import { Problem, failure } from "../core/wire/reply.js";
import { el, h, render } from "../lib/dom.js";
import { button } from "./bar.js";
import { coverPage } from "./question.js";
import { createUnmoderated } from "./members.js";
import { createWorkTiles, thanking } from "./work-tiles.js";

/** @import { RoomCreated, Work } from "../core/wire/schemas.d.ts" */
/** @import { RoomState } from "../core/wire/requests-by-subject.js" */
/** @import { Translate } from "../lib/i18n.js" */

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 * @param {Pick<import("./room.js").Presentable, "says" | "place">} presented
 * @param {object} of
 * @param {HTMLElement} of.root
 * @param {HTMLElement} of.bar
 * @param {() => RoomCreated | null} of.room
 * @param {() => RoomState | null} of.state
 * @param {(reply: Problem | RoomState) => void} of.onReply
 * @param {(work: Work, words: string) => void} of.pick
 */
export function createWall(page, api, presented, { root, bar, room, state, onReply, pick }) {
  const { t } = page;
  const panel = h("section", { className: "room-wall", hidden: true, tabIndex: -1, "aria-label": t("What they explore") });
  bar.after(panel);
  const nicknames = h("input", { type: "checkbox" });
  /** @type {Work[]} */
  let works = [];
  /** @type {Set<string>} */
  const hidden = new Set();
  /** The work that is about to be shown, with a word of thanks. @type {{id: string, form: HTMLElement} | null} */
  let chosen = null;
  let problem = "";
  const tileOf = createWorkTiles(page, api, presented, draw);
  const unmoderated = createUnmoderated(t, { code: () => room()?.code ?? "", drawn: draw });

  const isOpen = () => !panel.hidden;
  const sees = () => (state()?.wall ?? "closed") !== "closed";

  async function read() {
    const of = room();
    if (!of || !isOpen() || !sees()) return;
    const reply = await api.readWorks(of).catch(failure);
    problem = reply instanceof Problem ? wording(t, reply) : "";
    if (!(reply instanceof Problem)) works = reply.works;
    draw();
  }

  /** @param {"closed" | "open" | "named"} wall */
  async function adjust(wall) {
    const of = room();
    if (!of) return;
    const reply = await api.adjustRoom(of, { wall }).catch(failure);
    problem = reply instanceof Problem ? wording(t, reply) : "";
    if (wall === "closed") works = [];
    onReply(reply);
    draw();
    void read();
  }

  /** @param {boolean} opens */
  function open(opens) {
    coverPage(root, bar, panel, opens);
    if (!opens) return;
    draw();
    panel.focus();
    void read();
  }

  function draw() {
    if (!isOpen()) return;
    const visibleWorks = works.filter(({ id }) => !hidden.has(id));
    render(
      panel,
      el("header", { key: "head" }, el("h2", {}, t("What they explore")), sees() && el("p", { className: "crowd", role: "status" }, problem || counted(visibleWorks.length, works.length)), el("div", { className: "wall-buttons" }, sees() && unmoderated.nicknames(visibleWorks), sees() && button(t("Stop seeing it"), () => adjust("closed")), button(t("Close"), () => open(false)))),
      sees() ? el("ul", { key: "works", className: "works" }, visibleWorks.map(tile)) : offer(t, nicknames, problem, (wall) => void adjust(wall)),
      sees() && hidden.size > 0 && el("p", { key: "hidden" }, button(t("Show {count} hidden", { count: hidden.size }), () => (hidden.clear(), draw()))),
    );
  }

  /** @param {number} count @param {number} all */
  const counted = (count, all) => (all === 0 ? t("Nobody explores yet. What they change appears here.") : count === 1 ? t("1 member; only you see this.") : t("{count} members; only you see this.", { count }));

  /** @param {Work} work */
  function choose(work) {
    const form = thanking(t, (words) => (unchoose(), open(false), pick(work, words)), unchoose);
    chosen = { id: work.id, form };
    draw();
    form.querySelector("input")?.focus();
  }

  function unchoose() {
    chosen = null;
    draw();
  }

  /** @param {Work} work */
  function tile(work) {
    const { id } = work;
    const name = unmoderated.nameOf(work);
    const act = () => el("div", { key: "act", className: "act" }, !state()?.handed && !state()?.question && button(t("Show everyone…"), () => choose(work)), button(t("Hide"), () => (hidden.add(id), draw())));
    return tileOf(work, [name && el("b", {}, name)], [chosen?.id === id ? chosen.form : act()]);
  }

  panel.addEventListener("keydown", (event) => {
    event.stopPropagation(); // the page has keys of its own
    if (event.key === "Escape") open(false);
  });
  window.addEventListener("resize", () => isOpen() && coverPage(root, bar, panel, true));
  page.onTheme(draw);
  return {
    read,
    isOpen,
    toggle: () => open(!isOpen()),
    close: () => isOpen() && open(false),
  };
}

/** What the wall is, before it is opened. @param {Translate} t @param {HTMLInputElement} nicknames @param {string} problem @param {(wall: "open" | "named") => void} open */
function offer(t, nicknames, problem, open) {
  return el(
    "div",
    { key: "offer", className: "offer" },
    el("p", {}, t("Each student who explores sends what they look at: the sentence, the view, the head and what they changed. It has no names, and only you see it. Their pages tell them so."), " ", t("If your screen is mirrored, the class sees the wall as well.")),
    el("label", { className: "check" }, nicknames, el("span", {}, t("Ask for nicknames, which only you see"))),
    problem && el("p", { className: "problem", role: "alert" }, problem),
    button(t("See what they explore"), () => open(nicknames.checked ? "named" : "open"), "strong"),
  );
}
