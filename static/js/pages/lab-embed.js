/** A share of the lab in a frame of another page: only its matrices and steps. */

import { Problem, failure } from "../core/wire/reply.js";
import { openPage } from "../core/page/served-page.js";
import { find } from "../lib/dom.js";
import { createLabFigure } from "../lab/figure/lab-figure.js";
import { wording } from "../core/figure/problem-wording.js";
import { labOfShare } from "../lab/lab-link.js";

const { catalog = "", share: id = "" } = find("#lab").dataset;

async function start() {
  const { api, page } = await openPage({ catalog });
  const share = await api.readLabShare(id).catch(failure);
  if (share instanceof Problem) {
    const line = find("#embed-says");
    line.hidden = false;
    return void (line.textContent = wording(page.t, share));
  }
  createLabFigure({ root: find("#figure"), page, ...labOfShare(share), compute: api.lab, choices: false });
}

void start();
