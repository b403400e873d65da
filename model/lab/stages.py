"""The stages of the lab: parts of `model.transformer` as functions of tensors alone.

`model.lab.compute` puts them in the order of a request. A page without a server runs the same
stages as graphs (`model.web.lab_graphs`), so that nothing here depends on a number of a tensor.

Matrices of heads have an axis for the heads: `w_q` and `w_k` (D, H, d_k), `w_v` (D, H, d_v), `w_o`
(H, d_v, D), their biases without the first D. A matrix that a request lacks is the identity, a bias
zero.

Shapes: N tokens, M tokens attended to, H heads, D features, V vocabulary; no batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from model.trace.tensor_tap import FEATURE, HEAD, KEY, NULL, QUERY, VOCAB, NamedTensor, Tap
from model.transformer.attention import MultiHeadAttention
from model.transformer.layers import FeedForward
from model.transformer.positions import (
    Order,
    Positions,
    Relative,
    RelativeProduct,
    Sinusoidal,
    encoding,
)
from model.transformer.regularization import wanted
from model.transformer.scoring import SCORINGS, Additive, Dot, ScaledDot

SCORINGS_BY_NAME = {"dot": "dot", "scaled": "scaled-dot", "additive": "additive-bias"}
RELATIVE: dict[str, type[Relative]] = {"add": Relative, "multiply": RelativeProduct}
PAIRS = (HEAD, QUERY, KEY)

StepsByName = dict[str, NamedTensor]


@dataclass
class StepTap(Tap):
    """Keeps every tensor that passes through it as a step, without the batch."""

    place: str = ""
    steps: StepsByName = field(default_factory=dict)

    def at(self, place: str, **over: str) -> StepTap:
        return StepTap(f"{self.place}{place}.", self.steps)

    def __call__(self, name: str, value: Tensor, dims: tuple[str, ...]) -> Tensor:
        self.steps[self.place + name] = NamedTensor(dims, {}, value[0])
        return value


class Product(nn.Module):
    """x W + b, with W (in, out) as in the row convention."""

    def __init__(self, w: Tensor, b: Tensor) -> None:
        super().__init__()
        self.w, self.b = w, b

    def forward(self, x: Tensor) -> Tensor:
        """Multiply the rows of `x` (…, in) -> (…, out)."""
        return x @ self.w + self.b


class Norm(nn.Module):
    """Layer norm over the last axis, with γ and β of its length and ε as a number (Ba et al. 2016).

    torch's own has ε as an attribute, of which a graph keeps only a float32.
    """

    def __init__(self, gamma: Tensor, beta: Tensor, epsilon: Tensor | float) -> None:
        super().__init__()
        self.gamma, self.beta, self.epsilon = gamma, beta, epsilon

    def forward(self, x: Tensor) -> Tensor:
        """Normalise each row; same shape."""
        centred = x - x.mean(dim=-1, keepdim=True)
        variance = centred.square().mean(dim=-1, keepdim=True)
        return centred / (variance + self.epsilon).sqrt() * self.gamma + self.beta


def give(part: nn.Module, name: str, value: Tensor) -> None:
    """Replace a parameter by a tensor that is not trained."""
    delattr(part, name)
    setattr(part, name, value)


def attention_of(given: Mapping[str, Tensor], scoring: str) -> MultiHeadAttention:
    """Return the attention with the given matrices."""
    heads, channels = given["w_q"].shape[1:]
    attention = MultiHeadAttention(1, 1)  # its parameters are replaced
    attention.heads = heads
    for letter in "qkv":
        product = Product(given[f"w_{letter}"].flatten(1), given[f"b_{letter}"].flatten())
        setattr(attention, f"W_{letter}", product)
    attention.W_o = Product(given["w_o"].flatten(0, 1), given["b_o"])  # type: ignore[assignment]
    attention.scoring = SCORINGS[SCORINGS_BY_NAME[scoring]](1, 1)
    if isinstance(attention.scoring, Additive):
        give(attention.scoring, "w", given["w"])
        give(attention.scoring, "b", given["b"])
    if isinstance(attention.scoring, ScaledDot):  # a graph's d_k is known when it runs
        attention.scoring.root = given["w_q"].new_ones(channels).sum().sqrt()  # type: ignore[assignment]
    return attention.eval()


def relative_of(kind: str, pi: Tensor) -> Relative:
    """Return relative positions with a number per offset: `pi` (1, 2c + 1), c the largest."""
    positions = RELATIVE[kind](1, 0, 1)
    give(positions, "pi", pi)
    positions.most = pi.shape[1] // 2
    return positions


def attention_steps(
    given: Mapping[str, Tensor], scoring: str, positions: Positions, tap: StepTap
) -> Tensor:
    """Run the attention of `x` (N, D) over `memory` (M, D), where `allowed` (N, M) is true.

    The tap gets every step, with the scores before scaling, and before positions change them.
    Returns the output (N, D).
    """
    attention = attention_of(given, scoring)
    x, memory = given["x"], given["memory"]
    order = Order(positions, torch.arange(x.shape[0]), torch.arange(memory.shape[0]))
    inner = StepTap()
    output: Tensor = attention(x[None], memory[None], given["allowed"][None], inner, order)
    for name, step in inner.steps.items():
        if name == "scores":
            q, k = (inner.steps[letter].value[None] for letter in "qk")
            if scoring == "scaled":
                tap("products", Dot(0, 0)(q, k), PAIRS)
            if isinstance(positions, Relative):
                tap("scored", attention.scoring(q, k), PAIRS)
                tap("position", positions.of(order.queries, order.keys), (QUERY, KEY))
        tap(name, step.value[None], step.dims)
        if name == "mix":
            tap("concat", attention.join(step.value[None]), (QUERY, FEATURE))
    return output[0]


def feed_forward(given: Mapping[str, Tensor], tap: Tap) -> Tensor:
    """Run the feed-forward network: `x` (N, D) -> (N, D)."""
    network = FeedForward(1, 1)  # its parameters are replaced
    for number in (1, 2):
        product = Product(given[f"w_{number}"], given[f"b_{number}"])
        setattr(network, f"W_{number}", product)
    output: Tensor = network.eval()(given["x"][None], tap)
    return output[0]


def positioned(x: Tensor, tap: Tap) -> Tensor:
    """Add the paper's table of positions to `x` (N, D)."""
    length, width = x.shape
    part = Sinusoidal(1, 1, 1)
    part.table = encoding(length, width)  # in float64
    sums = part.at_input(x[None], torch.arange(length), NULL)
    tap("encoding", part.table[None], (QUERY, FEATURE))
    tap("input", sums, (QUERY, FEATURE))
    return sums[0]


def predict(x: Tensor, w_vocab: Tensor, tap: Tap) -> Tensor:
    """Return logits (N, V) of `x` (N, D); their softmax is a step as well."""
    logits = x @ w_vocab
    tap("logits", logits[None], (QUERY, VOCAB))
    tap("probabilities", logits.softmax(dim=-1)[None], (QUERY, VOCAB))
    return logits


def losses(logits: Tensor, targets: Tensor, smoothing: Tensor, shift: bool, tap: Tap) -> None:
    """Add the loss in nats of logits (N, V) and ids (N,), per row and on average.

    With `shift` each row predicts the next row's target, and the last row none.
    """
    if shift:
        logits, targets = logits[:-1], targets[1:]
    distributions = wanted(targets, logits.shape[-1], smoothing)
    tap("wanted", distributions[None], (QUERY, VOCAB))
    by_row = -(distributions * logits.log_softmax(dim=-1)).sum(dim=-1)
    tap("losses", by_row[None], (QUERY,))
    tap("loss", by_row.mean()[None], ())
