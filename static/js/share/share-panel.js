/** Create and copy a short link, also over plain http; and delete the share. */

import { wording } from "../core/figure/problem-wording.js";
import { createQrDialog } from "../core/page/short-link.js";
import { currentUrl } from "../core/store/address.js";
import { append, collectionKeys } from "../core/page/own-collections.js";
import { createRequestLock } from "../core/wire/connection.js";
import { Problem, failure } from "../core/wire/reply.js";
import { copyText } from "../lib/browser.js";
import { el, find, render } from "../lib/dom.js";
import { whileBusy } from "../lib/timing.js";

/** @import { About } from "../core/wire/schemas.d.ts" */
/** @import { PageServices } from "../workspace/main-figure.js" */
/** @import { Owned } from "../lib/browser.js" */

// The menu's QR code of what is on the screen.

/**
 * @param {Pick<import("../core/figure/types.js").PageContext, "t">} page
 * @param {() => Promise<{url: string}>} shorten  makes a short link
 */
function bindQr({ t }, shorten) {
  const dialog = createQrDialog({ t });
  const button = /** @type {HTMLButtonElement} */ (find("#qr-open"));

  async function open() {
    const reply = await whileBusy(() => shorten().catch(failure), button);
    /** @type {HTMLElement} */ (document.querySelector("#more") ?? button).focus(); // what gets the focus back: a menu has closed
    if (reply instanceof Problem) dialog.fail(wording(t, reply));
    else dialog.show(reply.url);
  }

  button.addEventListener("click", open);
  return dialog;
}

// Add a share that was just made to one of the collections that this browser can edit.

/** @param {{t: import("../lib/i18n.js").Translate, api: import("../core/wire/api.js").Api, lang: string}} context */
function bindCollecting({ t, api, lang }) {
  const details = /** @type {HTMLDetailsElement} */ (find("#collecting"));
  const form = /** @type {HTMLFormElement} */ (find("form", details));
  const field = /** @type {HTMLInputElement} */ (find("input", form));
  const status = find("#collecting-says");
  let id = "";
  let busy = false;
  const runAlone = createRequestLock((now) => {
    busy = now;
    draw();
  });

  function draw() {
    render(
      find("ul", details),
      collectionKeys.all().map((collection) => el("li", { key: collection.id }, el("button", { type: "button", className: "button", "aria-disabled": String(busy), onclick: () => void add(() => append(api, collection, item()).then(() => collection)) }, collection.title || collection.id))),
    );
    find("button", form).ariaDisabled = String(busy);
  }

  const item = () => ({ link: `/s/${id}`, title: "", note: "" });

  /** A new collection with the share in it. @returns {Promise<Owned>} */
  async function create() {
    const title = field.value.trim();
    const reply = await api.createCollection({ title, note: "", items: [item()] });
    const collection = { id: reply.id, title, key: reply.edit_key };
    collectionKeys.remember(collection);
    field.value = "";
    return collection;
  }

  /** @param {() => Promise<Owned>} work */
  async function add(work) {
    const done = await runAlone(work);
    if (!done) return;
    if (done instanceof Problem) render(status, wording(t, done));
    else render(status, t("Added to “{title}”.", { title: done.title }), " ", el("a", { href: `/c/${done.id}?lang=${lang}#edit` }, t("Edit the collection")));
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (field.value.trim() && !busy) void add(create);
  });
  details.addEventListener("toggle", draw);
  return {
    /** @param {string} share  its id; "": none */
    offer(share) {
      id = share;
      details.hidden = !share;
      status.textContent = "";
      draw();
    },
    open() {
      details.open = true;
      draw();
      /** @type {HTMLElement} */ (details.querySelector("li button") ?? field).focus();
    },
  };
}

// Delete a share with its edit key: just after creating it, or later at its address.

/**
 * @param {Pick<PageServices, "api" | "t">} context
 * @param {() => void} deleted  called when the server has deleted it
 */
function bindDeletion({ api, t }, deleted) {
  const details = /** @type {HTMLDetailsElement} */ (find("#deleting"));
  const key = /** @type {HTMLInputElement} */ (find("#edit-key"));
  const status = find("#deleting-says");
  const button = /** @type {HTMLButtonElement} */ (find("#unshare"));
  let id = "";

  /**
   * @param {string} share  its id
   * @param {string} editKey  its key if it was just created; otherwise the reader must enter it
   */
  function offer(share, editKey) {
    id = share;
    key.value = editKey;
    key.readOnly = editKey !== "";
    status.textContent = editKey
      ? t("Keep this edit key: it deletes the share, and is shown only this once.")
      : t("Enter the edit key that was shown when this share was made.");
  }

  function open() {
    details.open = true;
    key.focus();
  }

  async function remove() {
    const done = await whileBusy(() => api.deleteShare(id, key.value).catch(failure), button);
    if (done instanceof Problem) {
      status.textContent = wording(t, done);
      key.focus();
      return;
    }
    details.open = false;
    deleted();
  }

  button.addEventListener("click", remove);
  key.addEventListener("keydown", ({ key: pressed }) => pressed === "Enter" && remove());
  return { offer, open };
}

// What the author of a share adds: a title, a note, a question and its answer, and a name.

const FIELDS = /** @type {const} */ (["title", "note", "question", "answer", "sender", "predict"]);

/**
 * @param {() => void} submit  called when a link with this text is wanted
 * @param {() => {id: string, name: string}[]} kinds  of questions that can be asked about what is
 *   shown; the first stands for none
 */
function bindShareWords(submit, kinds) {
  const form = /** @type {HTMLFormElement} */ (find("#telling form"));
  /** @param {string} name */
  const field = (name) => /** @type {HTMLInputElement} */ (form.elements.namedItem(name));

  /** @returns {About | undefined}  undefined: nothing is written */
  function read() {
    const filled = FIELDS.map((name) => [name, field(name).value.trim()]).filter(([, text]) => text);
    return filled.length ? Object.fromEntries(filled) : undefined;
  }

  function requireQuestion() {
    field("question").required = field("answer").value.trim() !== "";
  }

  /** Offer the questions that suit what is shown. */
  function offer() {
    const menu = /** @type {HTMLSelectElement} */ (form.elements.namedItem("predict"));
    const { value } = menu;
    const offered = kinds();
    /** @type {HTMLElement} */ (menu.parentElement).hidden = offered.length < 2;
    render(menu, offered.map(({ id, name }) => el("option", { key: id, value: id }, name)));
    menu.value = offered.some(({ id }) => id === value) ? value : "";
  }

  find("#telling").addEventListener("toggle", offer);
  form.addEventListener("input", requireQuestion);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  return { read, offer };
}

/** @typedef {{url: string, edit_key?: string | null, expires?: string | null}} Made  a share that has a link */
/**
 * @typedef {object} Shared
 * @property {import("../lib/i18n.js").Translate} t
 * @property {import("../core/wire/api.js").Api} api
 * @property {(about?: About) => Promise<Made>} make
 * @property {() => string} title  title of a frame in another page
 * @property {string} lang  of the page
 * @property {() => {id: string, name: string}[]} [kinds]  of predictions that can be asked before
 *   what is shown
 */

/** The largest number of characters of a sentence in a frame's title. */
const TITLE = 200;
const SHARE = /\/s\/(\w+)$/;

/** @param {Shared} of */
export function bindSharePanel({ t, api, make, title, lang, kinds = () => [] }) {
  const panel = find("#shared");
  const link = /** @type {HTMLInputElement} */ (find("#shared-link"));
  const code = /** @type {HTMLTextAreaElement} */ (find("#embed-code"));
  const status = find("#shared-says");
  const button = /** @type {HTMLButtonElement} */ (find("#share"));
  /** All that share: a second press, or an older link after a newer one, must not come between. */
  const buttons = /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("#share, #telling button, #collect-open"));
  const words = bindShareWords(() => void share(), () => [{ id: "", name: t("no question") }, ...kinds()]);
  /**
   * Edit keys of the shares created here; the server returns each only once.
   * @type {Map<string, string>}
   */
  const keys = new Map();
  const qr = bindQr({ t }, createShare);
  const deletion = bindDeletion({ t, api }, deleted);
  const collecting = bindCollecting({ t, api, lang });

  async function share() {
    const shared = await whileBusy(() => createShare().catch(failure), ...buttons);
    if (shared instanceof Problem) return tell(wording(t, shared));
    hold(shared);
    await offer(shared.expires);
  }

  /** The same state with the same words has the same link. */
  async function createShare() {
    words.offer(); // what is shown may have changed since
    const shared = await make(words.read());
    if (shared.edit_key) keys.set(shared.url, shared.edit_key);
    return shared;
  }

  /** @param {Made} made  Its link, and what can be done with it. */
  function hold({ url }) {
    const [, id] = new URL(url).pathname.match(SHARE) ?? [];
    link.value = url;
    code.value = snippet(url, title(), lang);
    show(true);
    deletion.offer(id, keys.get(url) ?? "");
    collecting.offer(id ?? "");
  }

  /** Share, and choose a collection for it. */
  async function collect() {
    await share();
    if (!find("#shared-more").hidden) collecting.open();
  }

  /** @param {string | null} [expires] */
  async function offer(expires) {
    const copied = (await copy(link))
      ? t("Copied. Anyone with the link sees this exact view.")
      : t("Copy this link: anyone who has it sees this exact view.");
    const until = expires ? t("The link works until {when}.", { when: dateText(expires) }) : "";
    status.textContent = `${copied} ${until}`.trim();
  }

  /** @param {string} words  in place of a link */
  function tell(words) {
    show(false);
    status.textContent = words;
  }

  /** @param {boolean} hasLink  whether there is a link to show */
  function show(hasLink) {
    panel.hidden = false;
    for (const part of [link, find("#copy"), find("#shared-more")]) part.hidden = !hasLink;
  }

  function deleted() {
    tell(t("The share was deleted. Its link no longer opens."));
    find("#shared-close").focus();
  }

  /** At the address of a share: ask for its key. */
  function askForKey() {
    hold({ url: currentUrl(window) });
    status.textContent = t("The link to this share");
    deletion.open();
  }

  async function offerCode() {
    status.textContent = (await copy(code)) ? t("Copied.") : t("Copy this text.");
  }

  function close() {
    panel.hidden = true;
    button.focus();
  }

  button.addEventListener("click", share);
  document.querySelector("#collect-open")?.addEventListener("click", collect);
  find("#copy").addEventListener("click", () => offer());
  find("#frozen-delete").addEventListener("click", askForKey);
  find("#embed-copy").addEventListener("click", offerCode);
  find("#shared-qr").addEventListener("click", () => qr.show(link.value));
  find("#shared-close").addEventListener("click", close);
  panel.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    close();
  });
}

/**
 * The HTML to embed a share in another page.
 * @param {string} url  of the share
 * @param {string} title
 * @param {string} lang
 */
function snippet(url, title, lang) {
  const src = new URL(url);
  src.pathname = src.pathname.replace(SHARE, "/embed/$1");
  src.searchParams.set("lang", lang);
  const frame = document.createElement("iframe");
  frame.setAttribute("src", src.href);
  const frameTitle = title.trim().replace(/\s+/g, " ");
  frame.setAttribute("title", `Headlight: ${frameTitle.length > TITLE ? `${frameTitle.slice(0, TITLE)}…` : frameTitle}`);
  frame.setAttribute("width", "900");
  frame.setAttribute("height", "600");
  frame.setAttribute("loading", "lazy");
  return frame.outerHTML;
}

/**
 * @param {import("../lib/i18n.js").Translate} t
 * @param {{about?: About | null}} share
 * @returns {string}  who sent it, as they call themselves; "": they did not say
 */
export const senderText = (t, { about }) => (about?.sender ? t("Sent by {name}.", { name: about.sender }) : "");

/**
 * @param {string} moment  ISO 8601
 * @param {"short"} [time]  absent: only the day
 */
export function dateText(moment, time) {
  const { lang } = document.documentElement;
  return new Date(moment).toLocaleString(lang, { dateStyle: "long", timeStyle: time });
}

/** @param {HTMLInputElement | HTMLTextAreaElement} field  Copied or not, it is selected. */
async function copy(field) {
  const copied = await copyText(field.value);
  field.focus();
  field.select();
  return copied;
}
