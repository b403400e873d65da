"""The lab's computation: the parts of `model.transformer` with a request's matrices, in float64.

Why scores are divided by √d_k (section 3.2.1, footnote 4) is measured on random vectors. The
components of queries and keys are independent with mean 0 and variance 1, so q · k has variance
d_k. With scores that large a softmax gives nearly all weight to one key, and its gradient vanishes.

Shapes: S samples, one query each, K keys, d_k channels.

The stages of `model.lab.stages` are put in the order of a request; each value that passes through
the tap is a step.

Shapes: N tokens, M tokens attended to, H heads, D features, V vocabulary; batches of one.
"""

from dataclasses import dataclass, replace
from typing import Any, cast

import torch
from torch import Tensor, nn

from model.errors import InputError
from model.lab.lab_request import MATRICES, LabRequest, Matrix, Step, Steps, Vector, check
from model.lab.stages import (
    RELATIVE,
    Norm,
    StepTap,
    attention_steps,
    feed_forward,
    losses,
    positioned,
    predict,
    relative_of,
)
from model.trace.tensor_tap import Tap
from model.transformer import masks
from model.transformer.norms import NORMS, AddNorm, End, Last
from model.transformer.positions import Positions
from model.transformer.scoring import SCORINGS, Scoring

WIDTHS = tuple(2**power for power in range(10))  # 1 to 512
SAMPLES = 200
PARTS = {"dot": "dot", "scaled": "scaled-dot"}


@dataclass(frozen=True)
class Scaling:
    """The results of a scoring at each of `WIDTHS`, as float64 arrays."""

    scores: Any
    """(width, K) of the first sample."""
    weights: Any
    """(width, K) of the first sample."""
    spread: Any
    """(width,) standard deviation of all scores."""
    largest: Any
    """(width,) mean over samples of the largest weight."""
    gradient: Any
    """(width,) mean over samples of a (1 − a), the slope of the largest weight a."""


def scaling(keys: int, seed: int) -> dict[str, Scaling]:
    """Return the results of `dot` and `scaled` scoring on the same vectors, for `keys` keys."""
    rows: dict[str, list[dict[str, Tensor]]] = {name: [] for name in PARTS}
    for width in WIDTHS:
        q, k = drawn(width, keys, seed)
        for name, part in PARTS.items():
            rows[name].append(_measured(SCORINGS[part](1, width), q, k))
    return {
        name: Scaling(
            **{key: torch.stack([row[key] for row in by_width]).numpy() for key in by_width[0]}
        )
        for name, by_width in rows.items()
    }


def drawn(width: int, keys: int, seed: int) -> tuple[Tensor, Tensor]:
    """Return seeded queries (S, 1, d_k) and keys (S, K, d_k): standard normal, float64."""
    generator = torch.Generator().manual_seed(seed)
    shape = (SAMPLES, 1 + keys, width)
    vectors = torch.randn(shape, generator=generator, dtype=torch.float64)
    return vectors[:, :1], vectors[:, 1:]


def _measured(scoring: Scoring, q: Tensor, k: Tensor) -> dict[str, Tensor]:
    scores = scoring(q[:, None], k[:, None])[:, 0, 0]  # (S, K)
    weights = scores.softmax(dim=-1)
    largest = weights.amax(dim=-1)  # (S,)
    return {
        "scores": scores[0],
        "weights": weights[0],
        "spread": scores.std(correction=0),
        "largest": largest.mean(),
        "gradient": (largest * (1 - largest)).mean(),
    }


def tensor(values: Matrix | Vector) -> Tensor:
    """Convert nested lists to float64."""
    return torch.tensor(values, dtype=torch.float64)


def tensors_of(request: LabRequest) -> dict[str, Tensor]:
    """Return the tensors of the attention and the feed-forward network, as stages take them."""
    heads, x = request.heads, tensor(request.x)
    given = {"x": x, "memory": x if request.memory is None else tensor(request.memory)}
    for letter in "qkv":
        w = tensor(getattr(request, f"w_{letter}"))
        given[f"w_{letter}"] = w.view(len(w), heads, -1)
        given[f"b_{letter}"] = vector_of(getattr(request, f"b_{letter}"), w.shape[1])
    width = len(request.w_v[0])
    w_o = torch.eye(width).double() if request.w_o is None else tensor(request.w_o)
    given["w_o"] = w_o.view(heads, -1, w_o.shape[1])
    given["b_o"] = vector_of(request.b_o, w_o.shape[1])
    d_k = given["w_q"].shape[2]
    for name in ("w", "b"):
        given[name] = vector_of(getattr(request, name), d_k).view(-1, d_k).expand(heads, d_k)
    for number in (1, 2):
        matrix = getattr(request, f"w_{number}")
        if matrix is not None:
            given[f"w_{number}"] = tensor(matrix)
            given[f"b_{number}"] = vector_of(getattr(request, f"b_{number}"), len(matrix[0]))
    return given


def vector_of(vector: Vector | None, length: int) -> Tensor:
    """Return a vector, zeros if there is none."""
    return torch.zeros(length).double() if vector is None else tensor(vector)


def positions_of(request: LabRequest, length: int) -> Positions:
    """Return the requested relative positions, for this many positions."""
    relative = request.relative
    if relative is None:
        return Positions()
    kind = "add" if relative.add is not None else "multiply"
    part = RELATIVE[kind](length, 0, 1, relative.clip).double()
    pi = part.pi.detach().clone()
    for offset, value in (relative.add or relative.multiply or {}).items():
        if abs(int(offset)) <= part.most:
            pi[0, int(offset) + part.most] = value
    return relative_of(kind, pi)


def norm_of(request: LabRequest, width: int, gamma: Vector | None, beta: Vector | None) -> AddNorm:
    """Return the residual with the requested norm, or with none."""
    add_norm = NORMS[request.norm or "post"](1, 0.0).eval()  # its norm is replaced
    ones = [1.0] * width
    norm = Norm(tensor(gamma or ones), vector_of(beta, width), request.epsilon)
    add_norm.norm = nn.Identity() if request.norm is None else norm  # type: ignore[assignment]
    return add_norm


def end_of(request: LabRequest, width: int) -> End:
    """Return the end of a stack with the requested norm: with "pre", one more layer norm."""
    end = NORMS[request.norm or "post"].last(width)
    if isinstance(end, Last):
        end.eps = request.epsilon
        return end.double().eval()
    return end


RULES = {None: "padding", "causal": "causal", "window": "window-{}"}
RULES["causal-window"] = "causal & window-{}"


@torch.inference_mode()
def compute(request: LabRequest) -> Steps:
    """Return every step by name; in the column convention the last two axes of each are swapped.

    Raises InputError for invalid numbers, and for matrices that do not match.
    """
    check(request)
    if request.convention == "column":
        request = turned(request)
        steps = Lab(request).steps()
        return Steps({name: _transposed(step) for name, step in steps.steps.items()})
    return Lab(request).steps()


def turned(request: LabRequest) -> LabRequest:
    """Return the same request with every matrix transposed, in the row convention."""
    matrices: dict[str, Any] = {
        name: list(zip(*matrix, strict=True))
        for name in MATRICES
        if (matrix := getattr(request, name)) is not None
    }
    return replace(request, convention="row", **matrices)


def _transposed(step: Step) -> Step:
    if len(step.dims) < 2:
        return step
    *leading, rows, cols = step.dims
    return Step((*leading, cols, rows), step.value.swapaxes(-1, -2))


class Lab:
    """One request, in the row convention, as model parts."""

    def __init__(self, request: LabRequest) -> None:
        self.asked = request
        self.given = tensors_of(request)
        self.queries, self.keys = (torch.arange(len(self.given[name])) for name in ("x", "memory"))
        self.tap = StepTap()

    def steps(self) -> Steps:
        """Return all steps."""
        request, tap = self.asked, self.tap
        positions = positions_of(request, max(len(self.queries), len(self.keys)))
        given = {**self.given, "allowed": self.mask()[0]}

        def attend(x: Tensor) -> Tensor:
            looked_at = x[0] if request.memory is None else given["memory"]
            inputs = {**given, "x": x[0], "memory": looked_at}
            return attention_steps(inputs, request.scoring, positions, tap)[None]

        def feed(x: Tensor) -> Tensor:
            return feed_forward({**given, "x": x[0]}, tap.at("ffn"))[None]

        x = self.added(self.input()[None], attend, request.gamma, request.beta, tap)
        if request.w_1 is not None:
            x = self.added(x, feed, request.ffn_gamma, request.ffn_beta, tap.at("ffn"))
        if request.w_vocab is not None:
            if request.norm is not None:
                x = end_of(request, x.shape[-1])(x, tap.at("final"))
            self.predict(x[0])
        if request.norm is None:  # an identity took its place
            for name in ("norm", "ffn.norm"):
                self.tap.steps.pop(name, None)
        self.finite()
        return Steps({n: Step(step.dims, step.value.numpy()) for n, step in self.tap.steps.items()})

    def finite(self) -> None:
        """Raise InputError if a norm divided a row of equal features by 0."""
        if self.asked.epsilon > 0:
            return
        for name, step in self.tap.steps.items():
            if not step.value.isfinite().all():
                detail = f"epsilon must be above 0: {name} divides a row of equal features by 0"
                raise InputError("not-finite", "epsilon", detail)

    def input(self) -> Tensor:
        """Return `x`, with positions if requested."""
        x = self.given["x"]
        return x if self.asked.positions is None else positioned(x, self.tap)

    def mask(self) -> Tensor:
        """Return a mask (1, N, M), true where a query may attend."""
        request, keys = self.asked, self.keys
        rule = masks.named(RULES[request.mask].format(request.window))
        padding = request.padding or [False] * len(keys)
        real = ~torch.tensor(padding, dtype=torch.bool)[None]
        return masks.allowed(rule, real, self.queries, keys)

    def added(
        self, x: Tensor, sublayer: Any, gamma: Vector | None, beta: Vector | None, tap: Tap
    ) -> Tensor:
        """Apply the sublayer with its residual and norm, as far as requested."""
        if not self.asked.residual and self.asked.norm is None:
            return cast(Tensor, sublayer(x))
        part = norm_of(self.asked, x.shape[-1], gamma, beta)
        return cast(Tensor, part(x, sublayer, tap))

    def predict(self, x: Tensor) -> None:
        """Add logits, probabilities and, if there are targets, the loss."""
        request = self.asked
        assert request.w_vocab is not None
        logits = predict(x, tensor(request.w_vocab), self.tap)
        if request.targets is not None:
            smoothing = torch.tensor(request.label_smoothing, dtype=torch.float64)
            losses(logits, torch.tensor(request.targets), smoothing, request.shift, self.tap)
