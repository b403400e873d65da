/** What views are for. Which a page has, its index says: `view-groups.js`, or in its place that of a handout or a site. */

/** @import { Translate } from "../lib/i18n.js" */
/** @import { View } from "../core/figure/types.js" */

/**
 * @typedef {object} Group  views that serve one purpose
 * @property {string} id
 * @property {(t: Translate) => string} name
 * @property {(t: Translate) => string} about  the purpose, in a few words
 * @property {View[]} views
 */

/**
 * @param {{read: View[], compute: View[], explain: View[], experiment: View[]}} views
 * @returns {Group[]}
 */
export const groupsOf = ({ read, compute, explain, experiment }) => [
  { id: "read", name: (t) => t("Read"), about: (t) => t("what each word looks at"), views: read },
  { id: "compute", name: (t) => t("Compute"), about: (t) => t("every number, step by step"), views: compute },
  { id: "explain", name: (t) => t("Explain"), about: (t) => t("what the parts do"), views: explain },
  { id: "experiment", name: (t) => t("Experiment"), about: (t) => t("change it"), views: experiment },
];
