/** A random name of letters and digits that nobody guesses, also over plain http. */

/** @returns {string}  28 characters with 128 random bits */
export const randomToken = () => [...crypto.getRandomValues(new Uint32Array(4))].map((one) => one.toString(36).padStart(7, "0")).join("");
