"""A second implementation of the paper's Transformer in NumPy and float64, in the paper's order.

An independent reference that shares no code with `model/`: it reads a bundle's config.json and
weights.safetensors itself and takes token ids. Names are those of docs/trace.md.

Shapes: h heads, n queries, m keys, d_k channels of a head. Section numbers are those of
Vaswani et al. 2017.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

Array = NDArray[Any]
Change = Callable[[str, Array], Array]

# The supported variants, which are those of the paper and the defaults of a config.
PAPER = {
    "scoring": "scaled-dot",
    "positions": "sinusoidal",
    "norm": "post",
    "encoder_mask": "padding",
    "decoder_mask": "causal",
}
EPSILON = 1e-5  # added to a layer norm's variance; the paper states none


class NumpyTransformer:
    """The paper's encoder–decoder with the weights of a bundle.

    Raises `ValueError` for a bundle with other variants than the paper's.
    """

    def __init__(self, folder: Path) -> None:
        self.config = json.loads((folder / "config.json").read_text())["config"]
        for part, variant in PAPER.items():
            if self.config.get(part, variant) != variant:
                raise ValueError(f"{part} is {self.config[part]}; this computes {variant}")
        stored = load_file(folder / "weights.safetensors")
        self.weights = {name: value.astype(np.float64) for name, value in stored.items()}

    def run(
        self,
        source: Sequence[int],
        target: Sequence[int],
        source_real: int | None = None,
        target_real: int | None = None,
        *,
        change: Change = lambda name, value: value,
    ) -> dict[str, Array]:
        """Return every quantity of a run by name, given the ids (n,) of encoder and decoder.

        Only the first `source_real` and `target_real` ids are not padding. `change` may replace a
        quantity where it is computed.
        """
        return _Run(self, change).both(
            np.asarray(source),
            np.asarray(target),
            np.arange(len(source)) < (len(source) if source_real is None else source_real),
            np.arange(len(target)) < (len(target) if target_real is None else target_real),
        )


class _Run:
    def __init__(self, model: NumpyTransformer, change: Change) -> None:
        self.config, self.weights = model.config, model.weights
        self.change = change
        self.seen: dict[str, Array] = {}

    def see(self, name: str, value: Array) -> Array:
        self.seen[name] = self.change(name, value)
        return self.seen[name]

    def both(
        self, source: Array, target: Array, source_real: Array, target_real: Array
    ) -> dict[str, Array]:
        """Run figure 1: every decoder layer reads the output of the encoder's last layer."""
        n, m = len(target), len(source)
        everything = np.broadcast_to(source_real, (m, m))
        earlier = np.tril(np.ones((n, n), bool)) & target_real  # 3.2.3: no position looks ahead
        memory = self.embed("source", source)
        for layer in range(self.config["encoder_layers"]):
            place = f"encoder.{layer}"
            memory = self.attend(place, "self", memory, memory, everything)
            memory = self.feed_forward(place, memory)
        x = self.embed("target", target)
        for layer in range(self.config["decoder_layers"]):
            place = f"decoder.{layer}"
            x = self.attend(place, "self", x, x, earlier)
            x = self.attend(place, "cross", x, memory, np.broadcast_to(source_real, (n, m)))
            x = self.feed_forward(place, x)
        self.see("decoder.logits", x @ self.weights["embedding.weight"].T)  # 3.4: shared
        return self.seen

    def embed(self, text: str, ids: Array) -> Array:
        """Apply sections 3.4 and 3.5: embeddings times √d_model, plus sines and cosines."""
        d_model = self.config["d_model"]
        scaled = self.weights["embedding.weight"][ids] * d_model**0.5
        embedding = self.see(f"{text}.embedding", scaled)
        position = self.see(f"{text}.position", positions(len(ids), d_model))
        return self.see(f"{text}.input", embedding + position)

    def attend(self, layer: str, kind: str, x: Array, memory: Array, mask: Array) -> Array:
        """Apply section 3.2: softmax(Q Kᵀ / √d_k) V per head, W_O, add and norm; `mask` (n, m)."""
        place, stored = f"{layer}.{kind}", f"{layer}.{kind}_attention"
        count = self.config["heads"]
        if layer.startswith("encoder"):
            count = self.config.get("encoder_heads") or count
        q = self.see(f"{place}.q", split(self.linear(f"{stored}.W_q", x), count))
        k = self.see(f"{place}.k", split(self.linear(f"{stored}.W_k", memory), count))
        v = self.see(f"{place}.v", split(self.linear(f"{stored}.W_v", memory), count))
        scores = np.einsum("hnc,hmc->hnm", q, k) / q.shape[-1] ** 0.5
        scores = self.see(f"{place}.scores", scores)
        mask = self.see(f"{place}.mask", mask)
        weights = self.see(f"{place}.weights", softmax(np.where(mask, scores, -np.inf)))
        mix = self.see(f"{place}.mix", np.einsum("hnm,hmc->hnc", weights, v))
        concat = np.concatenate(list(mix), axis=-1)
        output = self.see(f"{place}.output", self.linear(f"{stored}.W_o", concat))
        return self.add_norm(place, f"{layer}.{kind}_norm", x + output)

    def feed_forward(self, layer: str, x: Array) -> Array:
        """Apply section 3.3: max(0, x W_1 + b_1) W_2 + b_2, then add and norm."""
        place = f"{layer}.ffn"
        hidden = self.see(f"{place}.hidden", np.maximum(0, self.linear(f"{place}.W_1", x)))
        output = self.see(f"{place}.output", self.linear(f"{place}.W_2", hidden))
        return self.add_norm(place, f"{layer}.ffn_norm", x + output)

    def add_norm(self, place: str, stored: str, added: Array) -> Array:
        """Apply section 3.1: LayerNorm(x + Sublayer(x)), given the sum."""
        residual = self.see(f"{place}.residual", added)
        centred = residual - residual.mean(axis=-1, keepdims=True)
        deviation = ((centred**2).mean(axis=-1, keepdims=True) + EPSILON) ** 0.5
        gain, bias = (self.weights[f"{stored}.norm.{name}"] for name in ("weight", "bias"))
        return self.see(f"{place}.norm", gain * centred / deviation + bias)

    def linear(self, stored: str, x: Array) -> Array:
        """Return x W + b; the bundle stores Wᵀ and possibly b."""
        product = x @ self.weights[f"{stored}.weight"].T
        return product + self.weights.get(f"{stored}.bias", 0.0)


def split(x: Array, heads: int) -> Array:
    """Split into heads; head i has the channels from i·d_k: (n, h·d_k) -> (h, n, d_k)."""
    return np.stack(np.split(x, heads, axis=-1))


def positions(length: int, d_model: int) -> Array:
    """Return section 3.5: PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i+1) the cosine."""
    table = np.empty((length, d_model))
    for pos in range(length):
        for two_i in range(0, d_model, 2):
            angle = pos / 10000 ** (two_i / d_model)
            table[pos, two_i : two_i + 2] = np.sin(angle), np.cos(angle)
    return table


def softmax(scores: Array) -> Array:
    """Return the softmax of each row; zeros for a row of −∞."""
    highest = scores.max(axis=-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isfinite(highest), highest, 0))
    total = powers.sum(axis=-1, keepdims=True)
    return np.asarray(powers / np.where(total == 0, 1, total))


def log_softmax(logits: Array) -> Array:
    """Return the log-probabilities (nats) of each row."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))


def score(logprobs: Array, penalty: float) -> float:
    """Return section 6.1: the sum over Wu et al.'s length penalty, ((5 + n) / 6)^α."""
    return float(logprobs.sum() / ((5 + len(logprobs)) / 6) ** penalty)
