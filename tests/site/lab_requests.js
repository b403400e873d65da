/** Prints what the page would send to a server for links to attention by hand, one line for each on stdin. */

import { createInterface } from "node:readline";

import { labRequest, parse } from "../../static/js/lab/lab-link.js";
import { unshuffled } from "../../static/js/lab/matrices.js";
import { preset } from "../../static/js/lab/presets.js";

for await (const link of createInterface({ input: process.stdin })) {
  const lab = parse(link, preset("identity"));
  console.log(JSON.stringify({ answer: labRequest(lab), before: labRequest(unshuffled(lab)) }));
}
