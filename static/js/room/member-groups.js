/** Which members of a room a teacher may want to remove, in groups. */

/** @import { Members } from "../core/wire/rooms.js" */
/**
 * @typedef {object} Group
 * @property {"absent" | "silent" | "new" | "network"} kind  absent: not connected; silent: have not
 *   answered the question; new: have come lately; network: have come from one address
 * @property {number} [minutes]  of those who have come lately
 * @property {boolean} [own]  whether the network is that of the teacher
 * @property {[number, number]} [came]  when the first and the last of them came, in seconds
 * @property {string[]} ids
 */

/** Minutes since a member has come, for which it is new. */
const NEW = [1, 5, 15];
/** Of networks, the ones with the most members. */
const NETWORKS = 5;

/**
 * The groups of members, without empty ones and without one that says the same as another.
 * @param {Members} room
 * @param {boolean} asked  whether the room is asked something
 * @returns {Group[]}
 */
export function groupsOf({ members, network, at }, asked) {
  const ids = (/** @type {Members["members"]} */ some) => some.map(({ id }) => id);
  /** @type {Group[]} */
  const groups = [
    { kind: "absent", ids: ids(members.filter(({ here }) => !here)) },
    { kind: "silent", ids: ids(asked ? members.filter(({ answered }) => !answered) : []) },
  ];
  let before = 0;
  for (const minutes of NEW) {
    const fresh = ids(members.filter(({ joined }) => joined > at - minutes * 60));
    if (fresh.length > before && fresh.length < members.length) groups.push({ kind: "new", minutes, ids: fresh });
    before = fresh.length;
  }
  const networks = [...new Set(members.map((one) => one.network))].map((n) => members.filter((one) => one.network === n));
  const large = networks.filter((some) => some.length > 1 && some.length < members.length).sort((a, b) => b.length - a.length);
  for (const some of large.slice(0, NETWORKS)) {
    const times = some.map(({ joined }) => joined);
    groups.push({ kind: "network", own: some[0].network === network, came: [Math.min(...times), Math.max(...times)], ids: ids(some) });
  }
  return groups.filter((group) => group.ids.length > 0);
}
