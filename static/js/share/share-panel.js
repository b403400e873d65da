/** Create and copy a short link, also over plain http; and delete the share. */

import { copyText } from "../lib/clipboard.js";
import { find } from "../lib/dom.js";
import { whileBusy } from "../lib/while-busy.js";
import { Problem, failure } from "../core/wire/problem.js";
import { here } from "../core/store/address.js";
import { wording } from "../core/figure/problem-wording.js";
import { bindQr } from "./qr.js";
import { bindCollecting } from "./share-collection.js";
import { bindDeletion } from "./share-deletion.js";
import { bindShareWords } from "./share-words.js";

/** @typedef {{title?: string, note?: string, question?: string, answer?: string, predict?: string}} About  what its author writes beside a share */
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
  const says = find("#shared-says");
  const button = /** @type {HTMLButtonElement} */ (find("#share"));
  /** All that share: a second press, or an older link after a newer one, must not come between. */
  const buttons = /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("#share, #telling button, #collect-open"));
  const words = bindShareWords(() => void share(), () => [{ id: "", name: t("no question") }, ...kinds()]);
  /**
   * Edit keys of the shares created here; the server returns each only once.
   * @type {Map<string, string>}
   */
  const keys = new Map();
  const qr = bindQr({ t }, made);
  const deletion = bindDeletion({ t, api }, deleted);
  const collecting = bindCollecting({ t, api, lang });

  async function share() {
    const shared = await whileBusy(() => made().catch(failure), ...buttons);
    if (shared instanceof Problem) return tell(wording(t, shared));
    hold(shared);
    await offer(shared.expires);
  }

  /** The same state with the same words has the same link. */
  async function made() {
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
    const until = expires ? t("The link works until {when}.", { when: day(expires) }) : "";
    says.textContent = `${copied} ${until}`.trim();
  }

  /** @param {string} words  in place of a link */
  function tell(words) {
    show(false);
    says.textContent = words;
  }

  /** @param {boolean} made  whether there is a link to show */
  function show(made) {
    panel.hidden = false;
    for (const part of [link, find("#copy"), find("#shared-more")]) part.hidden = !made;
  }

  function deleted() {
    tell(t("The share was deleted. Its link no longer opens."));
    find("#shared-close").focus();
  }

  /** At the address of a share: ask for its key. */
  function askForKey() {
    hold({ url: here(window) });
    says.textContent = t("The link to this share");
    deletion.open();
  }

  async function offerCode() {
    says.textContent = (await copy(code)) ? t("Copied.") : t("Copy this text.");
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
  const said = title.trim().replace(/\s+/g, " ");
  frame.setAttribute("title", `Headlight: ${said.length > TITLE ? `${said.slice(0, TITLE)}…` : said}`);
  frame.setAttribute("width", "900");
  frame.setAttribute("height", "600");
  frame.setAttribute("loading", "lazy");
  return frame.outerHTML;
}

/**
 * @param {string} moment  ISO 8601
 * @param {"short"} [time]  absent: only the day
 */
export function day(moment, time) {
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
