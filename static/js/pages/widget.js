/** A handout in a notebook whose kernel is there. Without one it is a handout like any other. */

import { createApi } from "../core/wire/api.js";
import { bindKernel, greeted, kernelFetch } from "../handout/notebook-kernel.js";
import { openHandout } from "../handout/page.js";
import { find } from "../lib/dom.js";
import { fetchFromHandout } from "../share/share-in-handout.js";

async function start() {
  const greeting = await greeted(find("#workspace").dataset.nonce ?? "");
  bindKernel(await openHandout(createApi(kernelFetch(greeting, fetchFromHandout("trace")))), greeting);
}

void start();
