/**
 * Edit a collection: its title, its note and its items. What is typed is kept in this browser until
 * it is saved; if someone else has saved meanwhile, nothing is overwritten without asking.
 */

import { oneAtATime } from "../core/wire/one-at-a-time.js";
import { Problem, failure } from "../core/wire/problem.js";
import { el, render } from "../lib/render.js";
import { wording } from "../core/figure/problem-wording.js";
import { draft, forget, keepDraft, keyOf, plain, remember, sameDocument } from "../core/store/kept-collections.js";
import { formOf } from "./editor-form.js";
import { createItemList } from "./item-list.js";
import { createLinkField } from "./link-field.js";

/** @import { CollectionReply } from "../core/wire/schemas.d.ts" */
/** @import { Document } from "../core/wire/subject-requests.js" */
/**
 * @typedef {object} Plan
 * @property {import("../core/figure/types.js").PageContext} page
 * @property {import("../core/wire/api.js").Api} api
 * @property {string} lang
 * @property {string} id
 * @property {string} url
 * @property {HTMLElement} root
 * @property {HTMLElement} shown  the page for readers, hidden while editing
 */

/** @param {Plan} plan */
export function createEditor({ page, api, lang, id, url, root, shown }) {
  const { t, announce } = page;
  /** As saved, when it was last read. @type {CollectionReply | null} */
  let base = null;
  /** @type {Document} */
  let document = { title: "", note: "", items: [] };
  /** The version that the document was made from. */
  let from = 0;
  /** Saved by someone else since. @type {CollectionReply | null} */
  let newer = null;
  let [busy, sure, says, problem] = [false, false, "", /** @type {Problem | null} */ (null)];
  const asked = oneAtATime((now) => {
    busy = now;
    if (now) draw();
  });
  const list = createItemList({ page, api, lang }, (items, words) => change({ items }, words), draw);
  const field = createLinkField({ page, api, lang }, (found) => {
    list.know(found);
    change({ items: [...document.items, { link: found.link, title: "", note: "" }] }, t("Added."));
  });

  async function open() {
    shown.hidden = true;
    root.hidden = false;
    const found = await api.readCollection(id).catch(failure);
    if (found instanceof Problem) problem = found;
    else begin(found);
    draw();
    root.querySelector("input")?.focus();
  }

  /** @param {CollectionReply} found */
  function begin(found) {
    base = found;
    const unsaved = draft(id);
    document = plain(unsaved?.document ?? found);
    from = unsaved?.version ?? found.version;
    says = unsaved ? t("Your changes from last time were kept in this browser. They are not saved yet.") : "";
    // The unsaved changes were made from another version.
    newer = from !== found.version ? found : null;
  }

  /** @param {Partial<Document>} part @param {string} [words]  for screen readers */
  function change(part, words = "") {
    document = { ...document, ...part };
    if (base) keepDraft(id, sameDocument(document, base) ? null : { version: from, document });
    [says, problem, sure] = ["", null, false];
    if (words) announce(words);
    draw();
  }

  /** @param {number} version */
  async function save(version) {
    const done = await asked(() => api.changeCollection(id, document, keyOf(id), version));
    if (!done) return;
    problem = null;
    if (!(done instanceof Problem)) saved(done);
    else if (done.kind === "collection-changed") await conflict();
    else problem = done;
    draw();
  }

  /** @param {CollectionReply} done */
  function saved(done) {
    base = done;
    from = done.version;
    newer = null;
    keepDraft(id, null);
    remember({ id, title: done.title, key: keyOf(id) });
    says = t("Saved.");
  }

  async function conflict() {
    const found = await api.readCollection(id).catch(failure);
    if (found instanceof Problem) problem = found;
    else newer = found;
  }

  function discard() {
    if (!base || busy) return;
    base = newer ?? base;
    from = base.version;
    newer = null;
    document = plain(base);
    keepDraft(id, null);
    says = t("This is what is saved.");
    draw();
  }

  async function remove() {
    const done = await asked(() => api.deleteCollection(id, keyOf(id)));
    if (done === null) return;
    if (done instanceof Problem) {
      problem = done;
      return draw();
    }
    forget(id);
    base = null;
    render(root, el("p", { role: "status" }, t("The collection was deleted. Its links no longer open."), " ", el("a", { href: `/c?lang=${lang}` }, t("Your collections"))));
  }

  function draw() {
    if (root.hidden) return;
    if (!base) return render(root, problem && el("p", { className: "problem", role: "alert" }, wording(t, problem)));
    const sight = { document, changed: !sameDocument(document, base), newer, busy, sure, says, problem, link: `${url}#edit=${keyOf(id)}`, view: `/c/${id}?lang=${lang}` };
    render(root, formOf(t, sight, act, { rows: list.show(document.items), adding: field.element }));
  }

  /** @type {import("./editor-form.js").Act} */
  const act = {
    change,
    discard,
    save: (version) => void save(version ?? from),
    remove: () => void remove(),
    ask: (wanted) => ((sure = wanted), draw()),
  };

  return { open };
}
