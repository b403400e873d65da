/** The speaker's notes: the present scene, the next one, and a clock, in a window of its own. */

import { channelOf } from "../learn/presenting.js";
import { openPage } from "../core/page/served-page.js";
import { el, find, render } from "../lib/dom.js";
import { TURNS, isPlainKey } from "../core/figure/pointing.js";
import { readQuery, writeQuery } from "../core/store/address.js";

/** @import { Scene } from "../learn/presenting.js" */

const { catalog = "" } = find("#speaker").dataset;
/** Milliseconds until a page that does not answer counts as closed. */
const PATIENCE = 4000;

async function start() {
  const { page: { t, announce } } = await openPage({ catalog });
  const main = find("#speaker main");
  /** @type {BroadcastChannel} */
  let channel;
  /** @type {Scene[]} */
  let scenes = [];
  let [title, sceneIndex, state] = ["", 0, /** @type {"waiting" | "open" | "left" | "silent"} */ ("waiting")];
  let started = Date.now();

  /** @param {import("../learn/presenting.js").SpeakerRequest} message */
  const ask = (message) => channel.postMessage(message);
  const turn = (/** @type {number} */ by) => ask({ kind: "turn", by });
  let timer = 0;

  /** Follow a page. @param {string} path */
  function follow(path) {
    channel?.close();
    channel = new BroadcastChannel(channelOf(path));
    channel.addEventListener("message", ({ data }) => hear(data));
    state = "waiting";
    timer = window.setTimeout(() => state === "waiting" && ((state = "silent"), draw()), PATIENCE);
    ask({ kind: "hello" });
  }

  /** @param {import("../learn/presenting.js").SpeakerMessage} message */
  function hear(message) {
    clearTimeout(timer);
    if (message.kind === "moved") {
      const query = new URLSearchParams(readQuery(window));
      query.set("of", message.to);
      writeQuery(window, String(query));
      return follow(message.to);
    }
    state = message.kind === "left" ? "left" : "open";
    if (message.kind === "scenes") [title, scenes] = [message.title, message.scenes];
    if (message.kind !== "left") sceneIndex = message.at;
    draw();
    if (message.kind === "at") announce(scenes[sceneIndex]?.title ?? "");
  }

  document.addEventListener("keydown", (event) => {
    const by = TURNS[event.key];
    if (!by || !isPlainKey(event)) return;
    event.preventDefault();
    turn(by);
  });

  function draw() {
    document.title = title ? `${t("Speaker notes")} · ${title}` : document.title;
    const stateText = { waiting: t("Looking for the presentation …"), silent: t("Nothing is presented in this browser. Open the lesson or the collection, press P, then Notes."), left: t("The presentation was closed. It continues here when it is opened again."), open: "" }[state];
    render(main, [
      el("header", { key: "clock", className: "clock" }, el("b", {}, clock(new Date())), el("span", {}, elapsed(Date.now() - started)), el("button", { type: "button", className: "button quiet", onclick: () => ((started = Date.now()), draw()) }, t("Start again")), el("span", { className: "place" }, scenes.length ? `${sceneIndex} / ${scenes.length - 1}` : "")),
      stateText && el("p", { key: "state", className: "state", role: "status" }, stateText),
      ...(scenes.length ? sceneSections() : []),
    ]);
  }

  function sceneSections() {
    const [now, next] = [scenes[sceneIndex], scenes[sceneIndex + 1]];
    return [
      el("section", { key: "notes", className: "notes", "aria-label": t("Notes") }, el("h1", {}, now?.title ?? ""), now?.says && el("p", { className: "says" }, now.says), now?.notes.length ? el("ul", {}, now.notes.map((line) => el("li", {}, line))) : el("p", { className: "none" }, t("No notes for this one."))),
      el("aside", { key: "scenes", className: "scenes" }, now?.picture && scene(t("On the screen"), now, ""), next ? scene(t("Next slide"), next, next.title) : el("p", { key: "end", className: "none" }, t("This is the last one."))),
      el("nav", { key: "turn", "aria-label": t("Projector") }, el("button", { type: "button", className: "button", onclick: () => turn(-1) }, `‹ ${t("Previous slide")}`), el("button", { type: "button", className: "button strong", onclick: () => turn(1) }, `${t("Next slide")} ›`)),
    ];
  }

  /** @param {string} heading @param {Scene} of @param {string} name */
  const scene = (heading, of, name) =>
    el("section", { key: heading, className: "scene" }, el("h2", {}, heading), name && el("p", {}, name), of.picture && el("img", { key: of.picture, src: of.picture, alt: "", width: 480, height: 300 }));

  setInterval(draw, 1000);
  draw();
  follow(new URLSearchParams(readQuery(window)).get("of") ?? "");
}

/** @param {Date} now */
const clock = (now) => now.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });

/** Minutes and seconds. @param {number} milliseconds */
function elapsed(milliseconds) {
  const seconds = Math.floor(milliseconds / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

void start();
