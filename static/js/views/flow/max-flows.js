/**
 * Maximum flows from the chosen token to all inputs, a few at a time, so that the page stays
 * responsive.
 */

import { whenFree } from "../../lib/timing.js";

/** @import { Shown } from "./flow-content.js" */

/** The longest time to block the page, in milliseconds. */
const SLICE = 12;

/** @param {() => void} ready  hears when the last one is known, not of each */
export function createMaxFlows(ready) {
  let work = () => {};
  const rest = whenFree(() => {
    work();
    if (!rest.owes()) ready();
  });

  return {
    /**
     * @param {Shown} shown
     * @param {number} top  the chosen token, whose flows are computed from now on
     * @returns {(number | undefined)[]}  of each input; undefined: not computed yet
     */
    from({ graph, flows, network }, top) {
      rest.cancel();
      const found = flows.get(top) ?? new Array(graph.leaves.length).fill(undefined);
      flows.set(top, found);
      work = () => {
        const until = performance.now() + SLICE;
        for (let n = found.indexOf(undefined); n >= 0; n = found.indexOf(undefined)) {
          found[n] = network.flow(graph.tops[top], graph.leaves[n]).value;
          if (performance.now() >= until) return rest.later();
        }
      };
      work();
      return found;
    },
    stop: rest.cancel,
  };
}
