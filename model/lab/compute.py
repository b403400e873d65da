"""The lab's computation: the parts of `model.transformer` with a request's matrices, in float64.

Why scores are divided by √d_k (section 3.2.1, footnote 4) is measured on random vectors. The
components of queries and keys are independent with mean 0 and variance 1, so q · k has variance
d_k. With scores that large a softmax gives nearly all weight to one key, and its gradient vanishes.

Shapes: S samples, one query each, K keys, d_k channels.

Each value that passes through the tap is a step; the few other steps use the same parts.

Shapes: N tokens, M tokens attended to, H heads, D features, V vocabulary; batches of one.
"""

from dataclasses import dataclass, replace
from typing import Any, cast

import torch
from torch import Tensor, nn

from model.errors import InputError
from model.lab.request import MATRICES, LabRequest, Matrix, Step, Steps, Vector, check
from model.trace.tensor_tap import (
    FEATURE,
    HEAD,
    KEY,
    NULL,
    QUERY,
    VOCAB,
    BatchTap,
    NamedTensor,
    Recorder,
    Tap,
)
from model.transformer import masks
from model.transformer.attention import MultiHeadAttention
from model.transformer.layers import FeedForward
from model.transformer.norms import NORMS, AddNorm, End, Last
from model.transformer.positions import (
    Order,
    Positions,
    Relative,
    RelativeProduct,
    Sinusoidal,
    encoding,
)
from model.transformer.regularization import cross_entropies, wanted
from model.transformer.scoring import SCORINGS, Additive, AdditiveBias, Dot, Scoring

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
    """(width,) mean over samples of the Frobenius norm of ∂ weights / ∂ scores."""


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
    jacobian = softmax_jacobian(scores)
    return {
        "scores": scores[0],
        "weights": weights[0],
        "spread": scores.std(correction=0),
        "largest": weights.amax(dim=-1).mean(),
        "gradient": jacobian.flatten(1).norm(dim=-1).mean(),
    }


def softmax_jacobian(scores: Tensor) -> Tensor:
    """Return ∂ softmax(scores)_i / ∂ scores_j by autograd: (S, K) -> (S, K, K)."""
    with torch.enable_grad():
        scores = scores.clone().requires_grad_()
        weights = scores.softmax(dim=-1)
        rows = [
            torch.autograd.grad(weights[:, i].sum(), scores, retain_graph=True)[0]  # (S, K)
            for i in range(weights.shape[-1])
        ]
    return torch.stack(rows, dim=1)


SCALED = {"dot": "dot", "scaled": "scaled-dot"}


def tensor(values: Matrix | Vector) -> Tensor:
    """Convert nested lists to float64."""
    return torch.tensor(values, dtype=torch.float64)


class Given(nn.Linear):
    """x W + b, with `w` (in, out) as in the row convention."""

    def __init__(self, w: Matrix, b: Vector | None) -> None:
        super().__init__(len(w), len(w[0]), bias=b is not None, dtype=torch.float64)
        self.weight = frozen(tensor(w).T)
        if b is not None:
            self.bias = frozen(tensor(b))

    def reset_parameters(self) -> None:
        """Do nothing: the parameters are given, and drawing them would double the time."""


def frozen(value: Tensor) -> nn.Parameter:
    """Return a parameter that is not trained."""
    return nn.Parameter(value, requires_grad=False)


def attention_of(request: LabRequest) -> MultiHeadAttention:
    """Return the attention with the requested matrices."""
    attention = MultiHeadAttention(request.heads, request.heads)  # its parameters are replaced
    name = SCALED.get(request.scoring, "additive" if request.b is None else "additive-bias")
    attention.scoring = SCORINGS[name](request.heads, len(request.w_q[0]) // request.heads)
    attention.W_q = Given(request.w_q, request.b_q)
    attention.W_k = Given(request.w_k, request.b_k)
    attention.W_v = Given(request.w_v, request.b_v)
    attention.W_o = nn.Identity() if request.w_o is None else Given(request.w_o, request.b_o)  # type: ignore[assignment]
    if isinstance(attention.scoring, Additive):
        attention.scoring.w = frozen(each_head(request.w or (), request))
    if isinstance(attention.scoring, AdditiveBias):
        attention.scoring.b = frozen(each_head(request.b or (), request))
    return attention.eval()


def each_head(vector: Vector, request: LabRequest) -> Tensor:
    """Return a vector as (H, d_k), given one for all heads or one for each head."""
    d_k = len(request.w_q[0]) // request.heads
    return tensor(vector).view(-1, d_k).expand(request.heads, d_k)


def positions_of(request: LabRequest, length: int) -> Positions:
    """Return the requested relative positions, for this many positions."""
    if request.relative is None:
        return Positions()
    kind = Relative if request.relative.add is not None else RelativeProduct
    positions = kind(length, 0, 1, request.relative.clip).double()
    for offset, value in (request.relative.add or request.relative.multiply or {}).items():
        if abs(int(offset)) <= positions.most:
            positions.pi[0, int(offset) + positions.most] = value
    return positions


def norm_of(request: LabRequest, width: int, gamma: Vector | None, beta: Vector | None) -> AddNorm:
    """Return the residual with the requested norm, or with none."""
    add_norm = NORMS[request.norm or "post"](width, 0.0).double().eval()
    add_norm.norm.eps = request.epsilon
    if gamma is not None:
        add_norm.norm.weight = frozen(tensor(gamma))
    if beta is not None:
        add_norm.norm.bias = frozen(tensor(beta))
    if request.norm is None:
        add_norm.norm = nn.Identity()  # type: ignore[assignment]
    return add_norm


def end_of(request: LabRequest, width: int) -> End:
    """Return the end of a stack with the requested norm: with "pre", one more layer norm."""
    end = NORMS[request.norm or "post"].last(width)
    if isinstance(end, Last):
        end.eps = request.epsilon
        return end.double().eval()
    return end


def ffn_of(request: LabRequest) -> FeedForward:
    """Return the feed-forward network with the requested matrices."""
    assert request.w_1 is not None
    assert request.w_2 is not None
    network = FeedForward(1, 1)  # its parameters are replaced
    network.W_1 = Given(request.w_1, request.b_1)
    network.W_2 = Given(request.w_2, request.b_2)
    return network.eval()


ATTENTION = ("q", "k", "v", "scores", "mask", "weights", "mix", "output")
TAPPED = {*ATTENTION, "residual", "norm", "final.norm"} | {
    f"ffn.{name}" for name in ("hidden", "output", "residual", "norm")
}
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
        self.x = tensor(request.x)[None]  # (1, N, D)
        self.memory = None if request.memory is None else tensor(request.memory)[None]
        queries = torch.arange(self.x.shape[1])
        keys = queries if self.memory is None else torch.arange(self.memory.shape[1])
        self.order = Order(positions_of(request, max(len(queries), len(keys))), queries, keys)
        self.recorder = Recorder(TAPPED)
        self.found: dict[str, NamedTensor] = self.recorder.tensors

    def steps(self) -> Steps:
        """Return all steps."""
        request, tap = self.asked, BatchTap([self.recorder])
        attention = attention_of(request)
        mask = self.mask()

        def attend(x: Tensor) -> Tensor:
            looked_at = x if self.memory is None else self.memory
            output: Tensor = attention(x, looked_at, mask, tap, self.order)
            return output

        x = self.added(self.input(), attend, request.gamma, request.beta, tap)
        self.between(attention)
        if request.w_1 is not None:
            ffn, ffn_tap = ffn_of(request), tap.at("ffn")
            x = self.added(
                x, lambda x: ffn(x, ffn_tap), request.ffn_gamma, request.ffn_beta, ffn_tap
            )
        if request.w_vocab is not None:
            if request.norm is not None:
                x = end_of(request, x.shape[-1])(x, tap.at("final"))
            self.predict(x[0])
        if request.norm is None:  # an identity took its place
            for name in ("norm", "ffn.norm"):
                self.found.pop(name, None)
        self.finite()
        return Steps({n: Step(step.dims, step.value.numpy()) for n, step in self.found.items()})

    def finite(self) -> None:
        """Raise InputError if a norm divided a row of equal features by 0."""
        if self.asked.epsilon > 0:
            return
        for name, step in self.found.items():
            if not step.value.isfinite().all():
                detail = f"epsilon must be above 0: {name} divides a row of equal features by 0"
                raise InputError("not-finite", "epsilon", detail)

    def input(self) -> Tensor:
        """Return `x`, with positions if requested."""
        if self.asked.positions is None:
            return self.x
        _, length, width = self.x.shape
        part = Sinusoidal(length, width, 1)
        part.table = encoding(length, width)  # in float64
        x = part.at_input(self.x, self.order.queries, NULL)
        self.note("encoding", part.table, (QUERY, FEATURE))
        self.note("input", x[0], (QUERY, FEATURE))
        return x

    def mask(self) -> Tensor:
        """Return a mask (1, N, M), true where a query may attend."""
        request, keys = self.asked, self.order.keys
        rule = masks.named(RULES[request.mask].format(request.window))
        padding = request.padding or [False] * len(keys)
        real = ~torch.tensor(padding, dtype=torch.bool)[None]
        return masks.allowed(rule, real, self.order.queries, keys)

    def added(
        self, x: Tensor, sublayer: Any, gamma: Vector | None, beta: Vector | None, tap: Tap
    ) -> Tensor:
        """Apply the sublayer with its residual and norm, as far as requested."""
        if not self.asked.residual and self.asked.norm is None:
            return cast(Tensor, sublayer(x))
        part = norm_of(self.asked, x.shape[-1], gamma, beta)
        return cast(Tensor, part(x, sublayer, tap))

    def between(self, attention: MultiHeadAttention) -> None:
        """Add the values between two steps of the attention, in order."""
        steps = dict(self.found)
        self.found.clear()
        for name, step in steps.items():
            if name == "scores":
                self.scored(attention, steps["q"].value[None], steps["k"].value[None])
            self.found[name] = step
            if name == "mix":
                self.note("concat", attention.join(step.value[None])[0], (QUERY, FEATURE))

    def scored(self, attention: MultiHeadAttention, q: Tensor, k: Tensor) -> None:
        """Add the scores before scaling, and before positions change them."""
        pairs = (HEAD, QUERY, KEY)
        if self.asked.scoring == "scaled":
            self.note("products", Dot(0, 0)(q, k)[0], pairs)
        if isinstance(self.order.positions, Relative):
            self.note("scored", attention.scoring(q, k)[0], pairs)
            order = self.order.queries, self.order.keys
            self.note("position", self.order.positions.of(*order)[0], (QUERY, KEY))

    def predict(self, x: Tensor) -> None:
        """Add logits, probabilities and, if there are targets, the loss in nats per token."""
        request = self.asked
        assert request.w_vocab is not None
        logits = x @ tensor(request.w_vocab)
        self.note("logits", logits, (QUERY, VOCAB))
        self.note("probabilities", logits.softmax(dim=-1), (QUERY, VOCAB))
        if request.targets is None:
            return
        written = torch.tensor(request.targets)
        if request.shift:
            logits, written = logits[:-1], written[1:]
        smoothing = request.label_smoothing
        self.note("wanted", wanted(written, logits.shape[-1], smoothing), (QUERY, VOCAB))
        losses = cross_entropies(logits, written, smoothing)
        self.note("losses", losses, (QUERY,))
        self.note("loss", losses.mean(), ())

    def note(self, name: str, value: Tensor, dims: tuple[str, ...]) -> None:
        """Add a step that does not pass through the tap."""
        self.found[name] = NamedTensor(dims, {}, value)
