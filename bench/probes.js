/** What is measured inside the page, which gets this before it loads: see page.py. */

globalThis.probes = (() => {
  /** @returns {Promise<number>}  when the next frame's callbacks begin */
  const frame = () =>
    new Promise((resolve) => requestAnimationFrame(() => resolve(performance.now())));

  /** @returns {Promise<number>}  when style, layout and paint of the present frame are done */
  const painted = () =>
    new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => resolve(performance.now());
      port2.postMessage(null);
    });

  /** A word for what is drawn in the figure: other pixels or elements are another picture. */
  function shown() {
    const canvas = document.querySelector("#view .chart canvas") ?? atlas();
    if (!canvas?.width) return document.querySelector("#view svg");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return new Uint32Array(data.buffer).reduce((sum, pixel) => (sum * 31 + pixel) >>> 0, 0);
  }

  /** The canvas with all heads, once something is painted on it. */
  function atlas() {
    return document.querySelector("#view canvas.atlas");
  }

  /** @returns {Promise<number>}  milliseconds of work until a change is on the screen */
  async function work(change) {
    await frame();
    await painted();
    const before = shown();
    const start = performance.now();
    change();
    await null;
    let spent = performance.now() - start;
    for (let frames = 0; frames < 120; frames++) {
      const began = await frame();
      spent += (await painted()) - began;
      if (shown() !== before) return spent;
    }
    throw new Error("the picture did not change");
  }

  /** @type {number[]}  milliseconds from data of this size to a picture of many heads */
  const arrivals = [];
  const whole = Response.prototype.arrayBuffer;
  Response.prototype.arrayBuffer = async function () {
    const buffer = await whole.call(this);
    if (buffer.byteLength > 1e6) void until(performance.now());
    return buffer;
  };

  async function until(start) {
    let own = 0; // looking at so many pixels takes time that is not the page's
    for (let frames = 0; frames < 600; frames++) {
      await frame();
      const end = await painted();
      if (painting(atlas())) return arrivals.push(end - start - own);
      own += performance.now() - end;
    }
  }

  /** Whether a canvas shows more than paper and frames. */
  function painting(canvas) {
    if (!canvas?.width) return false;
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size > 32;
  }

  return {
    arrivals,

    /** @type {number[]} */
    long: [],

    watch() {
      const note = (list) => this.long.push(...list.getEntries().map(({ duration }) => duration));
      new PerformanceObserver(note).observe({ type: "longtask" });
    },

    /** Goes to the next head. */
    head() {
      const radios = [...document.querySelectorAll("#heads input")];
      const next = radios[(radios.findIndex((radio) => radio.checked) + 1) % radios.length];
      return work(() => next.click());
    },

    /** Goes to a view. */
    view(id) {
      return work(() => document.querySelector(`#views-wide input[value=${id}]`).click());
    },
  };
})();
