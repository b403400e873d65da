/** A note above a view that replaces one that is not offered. */

import { attentionAt, blocks, place, withVectors } from "../core/wire/attentions.js";
import { LONGEST, isLong } from "../core/wire/long-texts.js";
import { find, h } from "../lib/dom.js";
import { reasonSaid } from "./missing-wording.js";
import { view, whyNot } from "../views/index.js";

/** @param {import("./types.js").Desk} desk */
export function bindUnoffered({ store, t }) {
  const line = h("p", { className: "not-offered", role: "status", hidden: true });
  find(".saying").before(line);
  const show = () => {
    const { unoffered, link, model, trace } = store.get();
    line.hidden = unoffered === null;
    if (unoffered === null) return;
    const names = { wanted: view(unoffered).name(t), open: view(link.view).name(t) };
    const wanted = view(unoffered);
    const closed = wanted.blocks === withVectors && !blocks(model).some(withVectors);
    if (isLong(trace)) {
      const tokens = Math.max(...Object.values(trace?.tokens ?? {}).map(({ length }) => length));
      line.textContent = t("“{wanted}” shows texts of up to {limit} tokens; this one has {tokens}. This is “{open}”.", { ...names, limit: LONGEST, tokens });
      return;
    }
    if (!closed && wanted.blocks === withVectors && attentionAt(model, place(model, link))?.qk === false) {
      line.textContent = t("No q and k in this layer: only its weights are known. This is “{open}”.", names);
      return;
    }
    const why = reasonSaid(t, whyNot(wanted, { model, link }) ?? "");
    if (closed) line.textContent = t("No q and k here: of this model’s attention only the weights are known. This is “{open}”.", names);
    else if (why) line.textContent = t("“{wanted}” cannot be shown here. {why} This is “{open}”.", { ...names, why });
    else line.textContent = t("“{wanted}” cannot be shown here; this is “{open}”.", names);
  };
  store.subscribe(({ unoffered, link, model, trace }) => [unoffered, link.view, link.block, link.layer, model, trace?.id], show);
  show();
}
