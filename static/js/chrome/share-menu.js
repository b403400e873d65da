/** Making a short link and copying it, over plain http too; and what a frozen share says of itself. */

import { copyText } from "../lib/clipboard.js";
import { asked } from "../data/request.js";
import { find } from "../lib/dom.js";
import { Problem, failure } from "../data/problem.js";
import { beside } from "../state/share-contents.js";
import { chosen } from "../state/link.js";
import { here } from "../state/address.js";
import { OPTIONS, view } from "../views/index.js";
import { wording } from "../parts/wording.js";
import { bindQr } from "./qr.js";

/** @typedef {import("./types.js").Desk} Desk */

/** @param {Desk} context */
export function bindShare(context) {
  const { store, t } = context;
  const panel = find("#shared");
  const link = /** @type {HTMLInputElement} */ (find("#shared-link"));
  const code = /** @type {HTMLTextAreaElement} */ (find("#embed-code"));
  const says = find("#shared-says");
  const button = /** @type {HTMLButtonElement} */ (find("#share"));
  const qr = bindQr(context, () => make(context));

  async function share() {
    button.disabled = true;
    const made = await make(context).catch(failure);
    button.disabled = false;
    panel.hidden = false;
    for (const part of [link, find("#copy"), find("#shared-more")])
      part.hidden = made instanceof Problem;
    if (made instanceof Problem) says.textContent = wording(t, made);
    else await offer(made.url);
  }

  /** @param {string} url */
  async function offer(url) {
    link.value = url;
    code.value = snippet(url, store.get().link);
    says.textContent = (await copy(link))
      ? t("Copied. Whoever opens it sees just this.")
      : t("Copy this link: whoever opens it sees just this.");
  }

  async function offerCode() {
    says.textContent = (await copy(code)) ? t("Copied.") : t("Copy this text.");
  }

  function close() {
    panel.hidden = true;
    button.focus();
  }

  button.addEventListener("click", share);
  find("#copy").addEventListener("click", () => offer(link.value));
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
  src.pathname = src.pathname.replace(/\/s\/(\w+)$/, "/embed/$1");
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
 * @returns {Promise<{url: string}>}
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
  const when = new Date(share.created).toLocaleString(document.documentElement.lang, {
    dateStyle: "long",
    timeStyle: "short",
  });
  find("#frozen-says").textContent = t("Frozen on {when}, as {model} ({digest}) saw it.", {
    when,
    model: share.model.name,
    digest: share.model.digest.slice(0, 12),
  });
  const live = /** @type {HTMLAnchorElement} */ (find("#open-live"));
  live.href = "/?" + format(link);
}
