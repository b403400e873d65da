/** The service worker that keeps a site's files. */

/** The longest wait for it, in milliseconds. */
const PATIENCE = 3000;

/**
 * Wait until what is loaded is also kept, so that nothing is loaded twice; not for long, since the
 * page does without.
 */
export async function keptFiles() {
  const { serviceWorker } = navigator;
  if (!serviceWorker) return;  // not over plain http
  const controlled = new Promise((resolve) => serviceWorker.addEventListener("controllerchange", resolve, { once: true }));
  const isRegistered = await serviceWorker.register("offline.js").then(() => true, () => false);
  if (isRegistered && !serviceWorker.controller) await Promise.race([controlled, new Promise((resolve) => setTimeout(resolve, PATIENCE))]);
}
