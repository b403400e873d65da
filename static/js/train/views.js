/** Tabs for the views that need only attention weights. */

import { find } from "../lib/dom.js";
import { render } from "../lib/render.js";
import { radios } from "../core/figure/controls.js";
import { view } from "../views/index.js";

/** @param {import("../workspace/types.js").Desk} desk */
export function bindViews({ store, t, figure }) {
  const place = find("#views");
  const show = () => {
    const names = Object.fromEntries(figure.offer().map(({ id, name }) => [id, name(t)]));
    render(place, radios("choice-view", names, view(store.get().link.view).id));
  };
  place.addEventListener("change", ({ target }) => store.go({ view: /** @type {HTMLInputElement} */ (target).value }));
  store.subscribe(({ link }) => link.view, show);
  show();
}
