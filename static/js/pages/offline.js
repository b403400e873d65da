/**
 * A service worker: what the page has loaded once opens without a network. The page's own files are
 * kept at once, the model's as they are loaded, so that nothing is loaded twice. Its first lines,
 * which a site has, name the files and their version (app/site.py).
 */

/** @typedef {{siteVersion: string, siteFiles: string[]}} Site */
/** @typedef {Event & {request: Request, waitUntil: (done: Promise<unknown>) => void, respondWith: (reply: Promise<Response>) => void}} WorkerEvent */

const { siteVersion, siteFiles } = /** @type {Site} */ (/** @type {unknown} */ (globalThis));
const clients = /** @type {{claim: () => Promise<void>}} */ (/** @type {any} */ (globalThis).clients);
const PREFIX = "headlight ";
const NAME = PREFIX + siteVersion;

const install = async () => (await caches.open(NAME)).addAll(siteFiles);

/** Keep no file of an earlier version, and answer the page that is open. */
async function activate() {
  for (const name of await caches.keys()) if (name.startsWith(PREFIX) && name !== NAME) await caches.delete(name);
  await clients.claim();
}

/** The kept file, whatever the query says, or the host's. @param {WorkerEvent} event */
async function reply({ request }) {
  const cache = await caches.open(NAME);
  const cached = await cache.match(request, { ignoreSearch: true });
  if (cached) return cached;
  const response = await fetch(request);
  if (response.ok) void cache.put(request, response.clone()).catch(() => undefined);  // a full disk
  return response;
}

self.addEventListener("install", (event) => /** @type {WorkerEvent} */ (event).waitUntil(install()));
self.addEventListener("activate", (event) => /** @type {WorkerEvent} */ (event).waitUntil(activate()));
self.addEventListener("fetch", (event) => {
  const got = /** @type {WorkerEvent} */ (event);
  if (got.request.method === "GET") got.respondWith(reply(got));
});
