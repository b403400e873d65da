/**
 * A service worker: what the page has loaded once opens without a network. Its first lines, which a
 * site has, name its files and their version (app/site/site_files.py).
 */

/** @typedef {{siteVersion: string, siteFiles: string[]}} Site */
/** @typedef {Event & {request: Request, waitUntil: (done: Promise<unknown>) => void, respondWith: (reply: Promise<Response>) => void}} WorkerEvent */

const { siteVersion, siteFiles } = /** @type {Site} */ (/** @type {unknown} */ (globalThis));
const PREFIX = "headlight ";

/** Keep all files of this version, and none of an earlier one. */
async function install() {
  const cache = await caches.open(PREFIX + siteVersion);
  await cache.addAll(siteFiles);
  for (const name of await caches.keys()) if (name.startsWith(PREFIX) && name !== PREFIX + siteVersion) await caches.delete(name);
}

/** The kept file, whatever the query says, or the host's. @param {Request} request */
async function reply(request) {
  const cache = await caches.open(PREFIX + siteVersion);
  return (await cache.match(request, { ignoreSearch: true })) ?? fetch(request);
}

self.addEventListener("install", (event) => /** @type {WorkerEvent} */ (event).waitUntil(install()));
self.addEventListener("fetch", (event) => {
  const { request, respondWith } = /** @type {WorkerEvent} */ (event);
  if (request.method === "GET") respondWith.call(event, reply(request));
});
