/** The learning rate of Vaswani et al. 2017, equation 3. */

/**
 * d_model^−0.5 · min(step^−0.5, step · warmup^−1.5): it rises linearly and falls as 1 / √step.
 * @param {number} step  from 1
 * @param {number} width  d_model
 * @param {number} warmup  steps
 */
export const learningRate = (step, width, warmup) => width ** -0.5 * Math.min(step ** -0.5, step * warmup ** -1.5);

/** Steps to list: the first, halfway up, the peak, and some after it. @param {number} warmup */
export const milestones = (warmup) => [...new Set([1, Math.ceil(warmup / 2), warmup, 2 * warmup, 4 * warmup, 25 * warmup])];
