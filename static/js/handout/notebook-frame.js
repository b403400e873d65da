/**
 * The front end of `headlight.Widget` (anywidget): it puts a handout into a frame and relays between
 * its port (notebook-kernel.js) and the kernel. A notebook loads this file by itself, so it imports nothing.
 */

/** @typedef {{id: number, path: string, method: string, accept: string, body: string | null}} Ask */
/** @typedef {{view: string, id: number, status: number, type: string}} KernelReply */
/**
 * What anywidget gives: the traits of the widget, and messages to and from it.
 * @typedef {object} Model
 * @property {(name: string) => any} get
 * @property {(name: string, value: unknown) => void} set
 * @property {() => void} save_changes
 * @property {(content: unknown) => void} send
 * @property {(event: string, listener: (...values: any[]) => void) => void} on
 * @property {(event: string, listener: (...values: any[]) => void) => void} off
 */

const TRAITS = ["text", "block", "layer", "head", "pinned", "changes"];
const CHANGED = TRAITS.map((name) => `change:${name}`);
/** What a handout may do: run its script, save pictures, print, open links. It has no origin. */
const ALLOWED = "allow-scripts allow-downloads allow-modals allow-popups";

/** @param {Model} model */
function createFrame(model) {
  const frame = document.createElement("iframe");
  frame.title = "Headlight";
  frame.setAttribute("sandbox", ALLOWED);
  frame.style.cssText = `width: 100%; height: ${model.get("height")}px; border: 0`;
  frame.srcdoc = new TextDecoder().decode(model.get("_page"));
  return frame;
}

/** @param {{model: Model, el: HTMLElement}} place @returns {() => void}  removes it */
function render({ model, el }) {
  const frame = createFrame(model);
  const view = crypto.getRandomValues(new Uint32Array(2)).join("-");  // replies go to every view
  const nonce = model.get("_nonce");
  /** @type {MessagePort | null} */
  let port = null;
  let waiting = false;
  const state = () => Object.fromEntries(TRAITS.map((name) => [name, model.get(name)]));

  /** A page that has loaded; a notebook that moves a frame loads it again. @param {MessageEvent} event */
  function greet({ source, data }) {
    if (source !== frame.contentWindow || data?.headlight !== nonce) return;
    const channel = new MessageChannel();
    port?.close();
    port = channel.port1;
    port.onmessage = hear;
    frame.contentWindow?.postMessage({ headlight: nonce, state: state(), models: model.get("_models") }, "*", [channel.port2]);
  }

  /** @param {MessageEvent<{state?: Record<string, unknown>, ask?: Ask}>} event */
  function hear({ data: { state, ask } }) {
    if (ask) model.send({ ...ask, view });
    if (!state) return;
    for (const name of TRAITS) if (JSON.stringify(model.get(name)) !== JSON.stringify(state[name])) model.set(name, state[name]);
    model.save_changes();
  }

  /** Several traits that change together are sent together. */
  function tell() {
    if (waiting) return;
    waiting = true;
    queueMicrotask(() => {
      waiting = false;
      port?.postMessage({ state: state() });
    });
  }

  /** @param {KernelReply} reply @param {DataView[]} buffers */
  function answer(reply, [body]) {
    if (reply.view !== view || !port) return;
    const { id, status, type } = reply;
    port.postMessage({ reply: { id, status, type, body: body.buffer.slice(body.byteOffset, body.byteOffset + body.byteLength) } });
  }

  window.addEventListener("message", greet);
  model.on("msg:custom", answer);
  CHANGED.forEach((event) => model.on(event, tell));
  el.append(frame);
  return () => {
    window.removeEventListener("message", greet);
    model.off("msg:custom", answer);
    CHANGED.forEach((event) => model.off(event, tell));
    port?.close();
    frame.remove();
  };
}

export default { render };
