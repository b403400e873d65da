/**
 * Where a token's vector comes from, across layers: attention rollout and attention flow from a
 * chosen token (Abnar & Zuidema 2020), and what its residual stream does on the way.
 */

import { between, blockAt } from "../../data/attentions.js";
import { lit } from "../../state/highlight.js";
import { prose } from "../../lib/i18n.js";
import { four, two } from "../../lib/numbers.js";
import { within } from "../../parts/arrow-keys.js";
import { whenFree } from "../../lib/timing.js";
import { readers } from "../../state/model-part-names.js";
import { h } from "../../lib/dom.js";
import { render } from "../../lib/render.js";
import { memo } from "../../lib/memo.js";
import { step } from "../../draw/token.js";
import { arriving, rollout } from "../../compute/flow.js";
import { network } from "../../compute/maxflow.js";
import { choice } from "../../state/options.js";
import { controls } from "../../parts/controls.js";
import { ruler } from "../../draw/labels.js";
import { named, tensor } from "../../data/shown-numbers.js";
import { enlarge, file } from "../../draw/svg.js";
import { bindRiver } from "./diagram-pointing.js";
import { graphOf, names, needs, streamOf } from "./layer-means.js";
import { FAINT, STRONG, river } from "./layer-diagram.js";
import { strip } from "./residual-strip.js";

/** @typedef {import("../../state/types.js").View} View */
/** @typedef {import("../../state/types.js").Context} Context */
/** @typedef {import("../../compute/flow.js").Graph} Graph */
/** @typedef {import("../../data/tokens.js").Step} Step */
/**
 * @typedef {object} Shown
 * @property {Graph} graph
 * @property {import("./layer-means.js").Stream | null} stream
 * @property {ReturnType<typeof names>} names
 * @property {ReturnType<typeof network>} network
 * @property {Map<number, (number | undefined)[]>} flows  of each leaf, by the token that was chosen
 */

/** A letter's height there, in pixels. */
const DESK = 13;
/** How long the page may be held at a time, in milliseconds. */
const SLICE = 12;

/** @type {View} */
export const flow = {
  id: "flow",
  name: (t) => t("Flow"),
  about: (t) =>
    t(
      "Follows attention down from a token of the picked layer to the inputs. Rollout multiplies the layers: the share of all paths that ends at an input. Flow is the most that the layers' weights let through. Both stand at the left of each input.",
    ),
  frame: { rail: "layer", inspector: false, caption: false, legend: "attention" },
  options: { amount: choice("rollout", "flow") },
  needs,
  mount,
};

/** @type {View["mount"]} */
function mount(context, root) {
  const { store, t, say } = context;
  /** @type {Shown | null} */
  let shown = null;
  /** @type {ReturnType<typeof strip> | null} */
  let cells = null;
  const rest = whenFree(goOn);
  const options = controls(context, [
    { option: "amount", label: t("Edges show"), values: { rollout: t("rollout"), flow: t("flow") } },
  ]);
  const finding = h("p", { className: "finding" });
  const water = h("div", {
    className: "river",
    tabIndex: 0,
    role: "application",
    "aria-label": t(
      "Flow of attention. Up and down choose the token above, left and right the input, Escape lets go.",
    ),
  });
  const stream = h("div", { className: "stream" });
  const series = h("p", { className: "series" });
  const note = h("p", { className: "note" });
  root.append(
    options,
    h(
      "div",
      { className: "flow" },
      finding,
      h("div", { className: "scroller" }, water),
      h("section", {}, h("h3", {}, t("Residual stream")), h("div", { className: "scroller", tabIndex: 0, role: "group", "aria-label": t("Residual stream") }, stream), series),
      note,
    ),
  );
  bindRiver(water, { store, move, announce: () => context.announce(finding.textContent ?? "") });

  /** The token above and the input that are lit. */
  function chosen() {
    const page = store.get();
    const at = lit(page, store.hovered());
    const top = Math.min(at.query ?? lit(page, null).query ?? 0, (shown?.graph.tops.length ?? 1) - 1);
    const side = blockAt(page).key;
    const leaf = shown?.graph.leaves.findIndex((node) => {
      const { side: own, index } = /** @type {Shown} */ (shown).graph.nodes[node];
      return own === side && index === at.key;
    });
    return { top, leaf: at.key === null || leaf === undefined || leaf < 0 ? null : leaf };
  }

  /** @param {number} down @param {number} right */
  function move(down, right) {
    if (!shown) return;
    const { link } = store.get();
    const { tops } = shown.graph;
    const { top } = chosen();
    const keys = shown.names.leaves[blockAt(store.get()).key].length;
    const query = within(top + down, tops.length);
    const key = right ? within((link.key ?? -1) + right, keys) : link.key;
    store.go({ query, key });
  }

  /** Max flows from the chosen token, some at a time. @param {number} top */
  function work(top) {
    rest.cancel();
    if (!shown) return [];
    const { graph, flows, network } = shown;
    const found = flows.get(top) ?? new Array(graph.leaves.length).fill(undefined);
    flows.set(top, found);
    const until = performance.now() + SLICE;
    for (let n = found.indexOf(undefined); n >= 0; n = found.indexOf(undefined)) {
      found[n] = network.flow(graph.tops[top], graph.leaves[n]).value;
      if (performance.now() < until) continue;
      rest.later();
      break;
    }
    return found;
  }

  /** All is drawn again when the last flow is known, not for each. */
  function goOn() {
    work(chosen().top);
    if (!rest.owes()) paint();
  }

  function paint() {
    if (!shown) return;
    const { graph, names } = shown;
    const { top, leaf } = chosen();
    const { nodes, edges } = rollout(graph, graph.tops[top]);
    const shares = graph.leaves.map((node) => nodes[node]);
    const flows = work(top);
    const { link } = store.get();
    const most = others(link.options.amount === "flow" ? flows : shares, graph, top);
    const goal = leaf ?? (link.options.amount === "flow" ? most : null);
    const carried = carry(shown, edges, top, goal, link.options.amount);
    const { width, height } = context.room();
    // Drawn with a desk's letters, then enlarged to those of the page.
    const page = context.theme();
    const unit = page.size / DESK;
    const theme = { ...page, size: DESK };
    const ruled = ruler(page);
    const measure = (/** @type {string} */ text) => ruled(text) / unit;
    const room = { width: width / unit, height: height / unit - 120, wide: width >= 600, measure };
    const whole = goal === null ? 1 : ((link.options.amount === "flow" ? flows[goal] : shares[goal]) ?? 1) || 1;
    const made = river(
      { graph, carried, whole, tops: names.tops, leaves: names.leaves, stacks: readers(store.get().model, t), top, leaf: goal, rollout: shares, flow: flows },
      room,
      theme,
      t,
    );
    water.replaceChildren(enlarge(made.svg, unit));
    water.dataset.drawn = "";
    render(finding, ...found(top, goal ?? most, shares, flows));
    if (!shown.stream) return;
    if (!cells) {
      const row = Math.min(24, made.row);
      cells = strip({ stream: shown.stream, tokens: names.tops }, { row, measure }, theme, t);
      stream.replaceChildren(enlarge(cells.svg, unit));
    }
    cells.mark(top);
    series.replaceChildren(...numbers(shown.stream, top));
  }

  /** @param {number} top @param {number} leaf @param {number[]} shares @param {(number | undefined)[]} flows */
  function found(top, leaf, shares, flows) {
    const { graph, names } = /** @type {Shown} */ (shown);
    const { side, index } = graph.nodes[graph.leaves[leaf]];
    return say(t("From {token} in layer {layer} back to {input}: rollout {rollout}, flow {flow}."), {
      token: step(names.tops[top]),
      layer: store.get().link.layer + 1,
      input: step(names.leaves[side][index]),
      rollout: four(shares[leaf]),
      flow: flows[leaf] === undefined ? "…" : four(/** @type {number} */ (flows[leaf])),
    });
  }

  /** @param {import("./layer-means.js").Stream} stream @param {number} top */
  function numbers({ norms, cosines }, top) {
    const line = (/** @type {number[][]} */ values) => values.map((all) => two(all[top])).join(" → ");
    return [
      h("span", {}, t("length"), " ", line(norms)),
      h("br", {}),
      h("span", {}, t("cosine to embedding"), " ", line(cosines)),
    ];
  }

  function draw() {
    options.refresh();
    const page = store.get();
    shown = content(page);
    if (!shown) return;
    cells = null;
    note.textContent = prose(remarks(context));
    paint();
  }

  return {
    draw,
    light: paint,
    destroy: () => (rest.cancel(), root.replaceChildren()),
    picture() {
      const drawn = water.querySelector("svg");
      return drawn && { svg: file(drawn, context.theme()) };
    },
    numbers: () => shown && worked(shown, chosen().top),
  };
}

/** Contents of a trace that are kept: a hand goes to and fro between a few layers. */
const KEPT = 4;

/**
 * @param {import("../../state/store.js").Page} page
 * @returns {Shown | null}  null until all of it is here
 */
function content(page) {
  const { trace, model, link } = page;
  if (!trace || !model || !needs(page).every((name) => trace.tensors[name])) return null;
  return memo(trace, `flow ${link.block} ${link.layer}`, () => {
    const graph = graphOf(page);
    if (!graph) return null;
    return { graph, stream: streamOf(page), names: names(model, trace, link.block), network: network(graph), flows: new Map() };
  }, KEPT);
}

/**
 * Of every token above its rollout, and of the chosen one its flow, which takes longer.
 * @param {Shown} shown
 * @param {number} top
 * @returns {import("../../data/shown-numbers.js").Shown}
 */
function worked({ graph, stream, names, network, flows }, top) {
  const { nodes, tops, leaves } = graph;
  const shares = tops.map((node) => rollout(graph, node).nodes);
  const flow = leaves.map((leaf, n) => flows.get(top)?.[n] ?? network.flow(tops[top], leaf).value);
  const stations = stream?.stations ?? [];
  const read = { station: "station", query: "query" };
  const size = [stations.length, tops.length];
  return {
    tokens: {
      query: named(names.tops),
      key: named(leaves.map((node) => names.leaves[nodes[node].side][nodes[node].index])),
      station: stations.map(({ layer, part }) => ({ text: layer < 0 ? part : `${layer}.${part}` })),
    },
    tensors: {
      rollout: tensor({ query: "query", key: "key" }, [tops.length, leaves.length], shares.flatMap((all) => leaves.map((node) => all[node]))),
      [`flow.${top}`]: tensor({ key: "key" }, [leaves.length], flow),
      ...(stream && { length: tensor(read, size, stream.norms.flat()), cosine: tensor(read, size, stream.cosines.flat()) }),
    },
  };
}

/**
 * What each edge carries of the rollout, or of the flow to one input.
 * @param {Shown} shown
 * @param {Float64Array} edges  of the rollout from the token
 * @param {number} top
 * @param {number | null} leaf  null: to all inputs
 * @param {string} amount
 */
function carry({ graph, network }, edges, top, leaf, amount) {
  if (leaf === null) return edges;
  if (amount === "flow") return network.flow(graph.tops[top], graph.leaves[leaf]).edges;
  const share = arriving(graph, graph.leaves[leaf]);
  return edges.map((passed, e) => passed * share[graph.to[e]]);
}

/**
 * The input that gets most; where there is any other, not the token's own, which nearly always does.
 * @param {ArrayLike<number | undefined>} values
 * @param {Graph} graph
 * @param {number} top
 */
function others(values, { nodes, leaves, tops }, top) {
  const { side, index } = nodes[tops[top]];
  const own = leaves.findIndex((node) => nodes[node].side === side && nodes[node].index === index);
  const order = leaves.map((_, n) => n).sort((a, b) => (values[b] ?? 0) - (values[a] ?? 0));
  return order.find((n) => n !== own && (values[n] ?? 0) > 0) ?? Math.max(own, 0);
}

/** @param {Context} context  What is exact in this, and what is not. */
function remarks({ store, t }) {
  const joins = between(blockAt(store.get()));
  return [
    t("Exact: rollout is the product of the layers, ½ mean of the heads + ½ residual; flow is the largest one that these weights let through, one of many ways being drawn."),
    ...(joins
      ? [t("Through cross attention both go on into the encoder; that half and half holds at each of the decoder's two attentions.")]
      : []),
    t("Approximate: values, output projections, feed-forward layers and layer norms are not in it, and heads count alike. It says where information could have come from, not what was used."),
    t("Grey edges below {weight} and coloured ones below {part} of the whole are not drawn; where an input is lit, the whole is what arrives there.", {
      weight: two(FAINT.least),
      part: STRONG.least,
    }),
    t("The residual stream is read at the input and behind every sublayer, a number opening each layer: its length before the layer norm, its direction after it."),
  ];
}
