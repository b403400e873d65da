/** Making a short link and copying it, over plain http too; and what a frozen share says of itself. */

import { copyText } from "../lib/clipboard.js";
import { asked } from "../data/request.js";
import { find } from "../lib/dom.js";
import { Problem, failure } from "../data/problem.js";
import { beside } from "../state/share-contents.js";
import { chosen } from "../state/link.js";
import { here } from "../state/address.js";
import { OPTIONS, view } from "../views/index.js";
import { wording } from "../parts/problem-wording.js";
import { bindQr } from "./qr.js";
import { bindDeletion } from "./share-deletion.js";

/** @typedef {import("./types.js").Desk} Desk */
/** @typedef {{url: string, edit_key?: string, expires?: string | null}} Made  a share that has a link */

const SHARE = /\/s\/(\w+)$/;

/** @param {Desk} context */
export function bindShare(context) {
  const { store, t } = context;
  const panel = find("#shared");
  const link = /** @type {HTMLInputElement} */ (find("#shared-link"));
  const code = /** @type {HTMLTextAreaElement} */ (find("#embed-code"));
  const says = find("#shared-says");
  const button = /** @type {HTMLButtonElement} */ (find("#share"));
  const qr = bindQr(context, () => make(context));
  const deletion = bindDeletion(context, deleted);

  async function share() {
    button.disabled = true;
    const made = await make(context).catch(failure);
    button.disabled = false;
    if (made instanceof Problem) return tell(wording(t, made));
    hold(made);
    await offer(made.expires);
  }

  /** @param {Made} made  Its link, and what can be done with it. */
  function hold({ url, edit_key: key = "" }) {
    const [, id] = new URL(url).pathname.match(SHARE) ?? [];
    link.value = url;
    code.value = snippet(url, store.get().link);
    show(true);
    deletion.offer(id, key);
  }

  /** @param {string | null} [expires] */
  async function offer(expires) {
    const copied = (await copy(link))
      ? t("Copied. Whoever opens it sees just this.")
      : t("Copy this link: whoever opens it sees just this.");
    const until = expires ? t("It opens until {when}.", { when: day(expires) }) : "";
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

  /** At the address of a share, to someone who has kept its key. */
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
  store.subscribe(({ share, link }) => [share, link], () => frozen(context));
}

/**
 * What another site's page needs to show a share.
 * @param {string} url  of the share
 * @param {import("../state/link.js").State} link
 */
function snippet(url, { source, lang }) {
  const src = new URL(url);
  src.pathname = src.pathname.replace(SHARE, "/embed/$1");
  src.searchParams.set("lang", lang);
  const frame = document.createElement("iframe");
  frame.setAttribute("src", src.href);
  frame.setAttribute("title", `Headlight: ${source.trim().replace(/\s+/g, " ")}`);
  frame.setAttribute("width", "900");
  frame.setAttribute("height", "600");
  frame.setAttribute("loading", "lazy");
  return frame.outerHTML;
}

/**
 * A short link to what is on the screen. What was frozen of a model that is gone has one already.
 * @param {Desk} context
 * @returns {Promise<Made>}
 */
async function make({ store, api }) {
  const page = store.get();
  if (page.share && !page.live) return { url: here(window) };
  return api.share({ state: asked(page.model, kept(page.link)), ...beside(page, view(page.link.view)) });
}

/**
 * A link as the server keeps it.
 * @param {import("../state/link.js").State} link
 */
function kept(link) {
  const { options, ...keys } = link;
  const present = Object.entries(keys).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(present), ...chosen(link, OPTIONS) };
}

/**
 * @param {string} moment  ISO 8601
 * @param {"short"} [time]  absent: the day alone
 */
function day(moment, time) {
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

/** @param {Desk} context */
function frozen({ store, t, format }) {
  const { share, link } = store.get();
  find("#frozen").hidden = !share;
  document.documentElement.toggleAttribute("data-shared", share !== null);
  if (!share) return;
  const when = day(share.created, "short");
  find("#frozen-says").textContent = t("Frozen on {when}, as {model} ({digest}) saw it.", {
    when,
    model: share.model.name,
    digest: share.model.digest.slice(0, 12),
  });
  const live = /** @type {HTMLAnchorElement} */ (find("#open-live"));
  live.href = "/?" + format(link);
}
