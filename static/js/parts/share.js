/** Making a short link and copying it, over plain http too; and what a frozen share says of itself. */

import { find } from "../dom.js";
import { Problem } from "../api.js";
import { beside } from "../frozen.js";
import { chosen } from "../url.js";
import { OPTIONS, view } from "../views/index.js";
import { wording } from "./problems.js";

/** @typedef {import("../main.js").Context} Context */

/** @param {Context} context */
export function bindShare(context) {
  const { store, t } = context;
  const panel = find("#shared");
  const link = /** @type {HTMLInputElement} */ (find("#shared-link"));
  const says = find("#shared-says");
  const button = /** @type {HTMLButtonElement} */ (find("#share"));

  async function share() {
    button.disabled = true;
    const made = await make(context).catch((error) => {
      if (error instanceof Problem) return error;
      throw error;
    });
    button.disabled = false;
    panel.hidden = false;
    link.hidden = find("#copy").hidden = made instanceof Problem;
    if (made instanceof Problem) says.textContent = wording(t, made);
    else await offer(made.url);
  }

  /** @param {string} url */
  async function offer(url) {
    link.value = url;
    link.focus();
    link.select();
    says.textContent = (await copy(link))
      ? t("Copied. Whoever opens it sees just this.")
      : t("Copy this link: whoever opens it sees just this.");
  }

  function close() {
    panel.hidden = true;
    button.focus();
  }

  button.addEventListener("click", share);
  find("#copy").addEventListener("click", () => offer(link.value));
  find("#shared-close").addEventListener("click", close);
  panel.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    close();
  });
  store.subscribe(() => frozen(context));
}

/**
 * A short link to what is on the screen. What was frozen of a model that is gone has one already.
 * @param {Context} context
 * @returns {Promise<{url: string}>}
 */
async function make({ store, api }) {
  const page = store.get();
  if (page.share && !page.live) return { url: window.location.href };
  return api.share({ state: kept(page.link), ...beside(page, view(page.link.view)) });
}

/**
 * A link as the server keeps it.
 * @param {import("../url.js").State} link
 */
function kept(link) {
  const { options, ...keys } = link;
  const present = Object.entries(keys).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(present), ...chosen(link, OPTIONS) };
}

/**
 * @param {HTMLInputElement} field  focused and selected
 * @returns {Promise<boolean>}
 */
async function copy(field) {
  try {
    await navigator.clipboard.writeText(field.value);
    return true;
  } catch {
    // Without https there is no asynchronous clipboard; the old way still works.
    return document.execCommand("copy");
  }
}

/** @param {Context} context */
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
