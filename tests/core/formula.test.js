import assert from "node:assert/strict";
import { test } from "node:test";

import { factor, fraction, mathml, plain, raised, root, total, formulaText } from "../../static/js/core/compute/formula.js";

/** Elements as text: all that a formula asks of a document. */
const document = /** @type {Document} */ (
  /** @type {unknown} */ ({
    createElementNS(/** @type {string} */ _, /** @type {string} */ tag) {
      /** @type {{children: unknown[], attributes: string, append: (...c: unknown[]) => void, setAttribute: (n: string, v: string) => void, toString: () => string}} */
      const element = {
        children: [],
        attributes: "",
        append: (...children) => void element.children.push(...children),
        setAttribute: (name, value) => void (element.attributes += ` ${name}=${value}`),
        toString: () => `<${tag}${element.attributes}>${element.children.join("")}</${tag}>`,
      };
      return element;
    },
  })
);

const SCORE = ["score_ij", "=", fraction(["q_i", "·", "k_j"], root("d_k")), "=", -1.25];

test("a formula as a line of text", () => {
  assert.equal(formulaText(SCORE), "scoreᵢⱼ = (qᵢ · kⱼ) / √dₖ = −1.2500");
  assert.equal(formulaText(["max", "(", plain(0), ",", "z", ")"]), "max (0, z)");
  assert.equal(formulaText(total("j", ["w_ij", "v_j"])), "Σⱼ wᵢⱼ vⱼ");
  assert.equal(formulaText(["x_12", "W_q", "a_Q"]), "x₁₂ W_q a_Q", "not every letter exists as a subscript");
  assert.equal(formulaText(raised("e", ["a", "−", "b"])), "e^(a − b)");
  assert.equal(formulaText([1, "·", factor(-2)]), "1.0000 · (−2.0000)");
});

test("the same formula as MathML", () => {
  assert.equal(
    String(mathml(document, SCORE, true)),
    "<math lang=en display=block><mrow>" +
      "<msub><mi>score</mi><mrow><mi>i</mi><mi>j</mi></mrow></msub><mo>=</mo>" +
      "<mfrac><mrow><msub><mi>q</mi><mrow><mi>i</mi></mrow></msub><mo>·</mo><msub><mi>k</mi><mrow><mi>j</mi></mrow></msub></mrow>" +
      "<msqrt><msub><mi>d</mi><mrow><mi>k</mi></mrow></msub></msqrt></mfrac><mo>=</mo>" +
      "<mrow><mo form=prefix>−</mo><mn>1.2500</mn></mrow></mrow></math>",
  );
});

test("numbers of any size, in both", () => {
  assert.equal(formulaText(Math.exp(-20)), "2.1 · 10⁻⁹");
  assert.equal(formulaText([0, "+", 145830]), "0 + 1.4583 · 10⁵");
  assert.equal(
    String(mathml(document, Math.exp(-20))),
    "<math lang=en><mrow><mn>2.1</mn><mo>·</mo><msup><mn>10</mn><mrow><mo form=prefix>−</mo><mn>9</mn></mrow></msup></mrow></math>",
  );
});
