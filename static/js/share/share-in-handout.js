/** A share that lies in the page itself, packed, in the place of a server. */

import { find } from "../lib/dom.js";
import { joined, unpacked } from "../lib/unpack-bytes.js";

const PART = /\/(asks|rounded)\/(\d+)$/;

/**
 * A function in place of `fetch` that replies with a share and its frozen answers, and fails as a
 * missing network does for anything else.
 * @param {string} id  of the block with the share; its n-th answer is in `id-ask-n`, and the weights of its n-th
 *   rounded attention in `id-rounded-n`
 * @returns {(path: RequestInfo | URL) => Promise<Response>}
 */
export const fetchFromHandout = (id) => async (path) => {
  const requestPath = String(path);
  if (!requestPath.startsWith("/api/shares/")) throw new TypeError("no network");
  const [, kind, n] = PART.exec(requestPath) ?? [];
  if (kind === "rounded") return unpacked(await arrived(`#${id}-rounded-${n}`));
  const block = n === undefined ? id : `${id}-ask-${n}`;
  const parts = [block, `${block}-planes`].map((part) => unpacked(find(`#${part}`)).arrayBuffer());
  const [header, planes] = await Promise.all(parts);
  return new Response(new Blob([header, joined(planes)]));
};

/**
 * A block, when the browser has read all of it: at once if it is before the script that opens the page, otherwise at
 * the end of the file.
 * @param {string} selector
 * @returns {Promise<HTMLElement>}
 */
async function arrived(selector) {
  const [block, opener] = [selector, "script[type=module]"].map((name) => document.querySelector(name));
  const before = block && opener && block.compareDocumentPosition(opener) & Node.DOCUMENT_POSITION_FOLLOWING;
  if (!before && document.readyState === "loading")
    await new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve, { once: true }));
  return find(selector);
}
