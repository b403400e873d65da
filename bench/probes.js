/** What is measured inside the page, which gets this before it loads: see browser.py. */

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

  /** What `shown` said when it was taken down. */
  let noted;

  /** @type {number[]}  milliseconds from data of this size to a picture of many heads */
  const arrivals = [];
  const whole = Response.prototype.arrayBuffer;
  Response.prototype.arrayBuffer = async function () {
    const buffer = await whole.call(this);
    if (/[?&]view=heads/.test(location.search) && buffer.byteLength > 1e6) void until(performance.now());
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

    /** Takes down what is shown. */
    note() {
      noted = shown();
    },

    /** Whether another picture is shown than the one that was taken down. */
    changed: () => shown() !== noted,

    /** Makes a change, or none, and waits until the frame that shows it has been handed over. */
    async drawn(change = () => {}) {
      change();
      await frame();
      await painted();
    },

    /** Goes to the next head. */
    head() {
      const radios = [...document.querySelectorAll("#heads input")];
      radios[(radios.findIndex((radio) => radio.checked) + 1) % radios.length].click();
    },

    /** Goes to a view. */
    view: (id) => document.querySelector(`#views-wide input[value=${id}]`).click(),
  };
})();
