/** The lab as a page that can be presented in a room. */

import { bindRoom } from "./room.js";
import { find } from "../lib/dom.js";
import { format, parse } from "../lab/link.js";
import { preset } from "../lab/presets.js";
import { labForm } from "./lab-questions.js";

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 * @param {import("../lab/figure/lab-figure.js").LabFigure} figure
 */
export function bindLabRoom(page, api, figure) {
  /** @type {Set<() => void>} */
  const listeners = new Set();
  const form = labForm(page, figure);
  let showing = false;
  bindRoom(
    page,
    api,
    {
      link: () => `/lab?${format(figure.lab())}`,
      show(link) {
        const { pathname, search } = new URL(link, window.location.origin);
        if (pathname !== "/lab") return false;
        if (link === `/lab?${format(figure.lab())}`) return true;
        showing = true;
        figure.go(parse(search, preset("identity")));
        showing = false;
        return true;
      },
      onChange: (listener) => void listeners.add(listener),
      askable: () => ({ questions: [], form }),
      pointer: figure.pointing.at,
      point: figure.pointing.show,
      onPoint: figure.pointing.listen,
      says: (link) => (link.startsWith("/lab") ? page.t("Attention by hand") : page.t("another page")),
    },
    find("#lab"),
  );
  /** To be called with each state. */
  return () => !showing && listeners.forEach((listener) => listener());
}
