/**
 * Random numbers as PyTorch draws them on a CPU, so that a seed gives the same tokens and the same
 * order here: the Mersenne Twister mt19937, exponential numbers of 53 random bits, and the
 * permutation of `torch.randperm` (ATen/native/cpu/DistributionTemplates.h, ATen/native/TensorFactories.cpp).
 */

const SIZE = 624;
const SHIFT = 397;
const TWO_53 = 2 ** 53;
/** Of a 64-bit number, the high half's bits below 2 ** 53. */
const HIGH_BITS = 0x1fffff;

/** @typedef {ReturnType<typeof createRandom>} Random */

/** @param {number} seed */
export function createRandom(seed) {
  const state = new Uint32Array(SIZE);
  state[0] = seed;
  for (let i = 1; i < SIZE; i++) state[i] = Math.imul(1812433253, state[i - 1] ^ (state[i - 1] >>> 30)) + i;
  let position = SIZE;

  function refill() {
    for (let i = 0; i < SIZE; i++) {
      const mixed = (state[i] & 0x80000000) | (state[(i + 1) % SIZE] & 0x7fffffff);
      state[i] = state[(i + SHIFT) % SIZE] ^ (mixed >>> 1) ^ (mixed & 1 ? 0x9908b0df : 0);
    }
    position = 0;
  }

  /** 32 random bits. */
  function bits() {
    if (position === SIZE) refill();
    let y = state[position++];
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  }

  return {
    bits,

    /** An exponentially distributed number in single precision. */
    exponential() {
      const high = bits() & HIGH_BITS;
      const uniform = (high * 2 ** 32 + bits()) / TWO_53;
      return Math.fround(-Math.log1p(-uniform));
    },

    /** The numbers below `count` in random order. @param {number} count */
    permutation(count) {
      const order = Array.from({ length: count }, (_, index) => index);
      for (let index = 0; index < count - 1; index++) {
        const swapped = index + (bits() % (count - index));
        [order[index], order[swapped]] = [order[swapped], order[index]];
      }
      return order;
    },
  };
}
