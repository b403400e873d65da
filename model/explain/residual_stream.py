"""Describes what a stack adds to its residual stream, and how logits are computed from it.

The logit lens, the contributions and the terms of scores are computed from this description, for
any model. A sublayer's output o reaches the stream in one of these ways:

    pre-norm    x + o               nothing between
    sandwich    x + norm(o)         a norm of its own (Gemma 2 and 3)
    post-norm   norm(x + o)         a norm of the sum

What is read from a stream can be split into one term for each contribution to it. Every norm is
affine if its mean and σ are fixed at those of the run:

    LayerNorm(r) = γ ⊙ (r − mean(r)) / σ(r) + β

so a product d · x of the stream with a direction is a sum. Go back from where it is read: through a
norm d ← centred(γ ⊙ d) / σ (RMSNorm: d ← γ ⊙ d / rms), past a sublayer unchanged, until the input.
Computed in float64.

Shapes: R directions, T rows, D features, H heads, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from model.trace.tensor_tap import Recorder

PROJECTED = "projected"  # a sublayer's output before a norm of its own; "output" is what is added


@dataclass(frozen=True, eq=False)
class Norm:
    """gain ⊙ (x − mean(x)) / σ(x) + shift; without `centred`, x / rms(x) (RMSNorm)."""

    gain: Tensor  # (D,)
    shift: Tensor | None
    eps: float
    centred: bool = True

    def __call__(self, x: Tensor) -> Tensor:
        """Apply the norm (…, D)."""
        if self.centred:
            x = x - x.mean(dim=-1, keepdim=True)
        normed = x * (x.square().mean(dim=-1, keepdim=True) + self.eps).rsqrt() * self.gain
        return normed if self.shift is None else normed + self.shift

    def before(self, d: Tensor, read: Tensor) -> Tensor:
        """Return the direction (T, D) before the norm that corresponds to `d` after it.

        σ is that of what it `read` (T, D) in this run.
        """
        scaled = d * self.gain.double()
        if self.centred:
            scaled = scaled - scaled.mean(dim=-1, keepdim=True)
        return scaled / self._deviation(read)

    def after(self, term: Tensor, read: Tensor) -> Tensor:
        """Return what a term (…, T, D) of what it `read` (T, D) in this run is after the norm."""
        term = term.double()
        if self.centred:
            term = term - term.mean(dim=-1, keepdim=True)
        return term / self._deviation(read) * self.gain.double()

    def _deviation(self, read: Tensor) -> Tensor:
        """Return σ, or the root mean square, of each row (T, 1)."""
        x = read.double()
        if self.centred:
            x = x - x.mean(dim=-1, keepdim=True)
        return (x.square().mean(dim=-1, keepdim=True) + self.eps).sqrt()


@dataclass(frozen=True, eq=False)
class Sublayer:
    """One sublayer: "self", "cross" or "ffn"."""

    name: str
    bias: Tensor | None  # (D,), the last term of its output
    W_o: Tensor | None = None  # (H · d_v, D), of an attention
    own: Norm | None = None  # of the output alone, before it is added
    post: Norm | None = None  # of the sum

    @property
    def read(self) -> str:
        """The name of its output before a norm of its own."""
        return "output" if self.own is None else PROJECTED


@dataclass(frozen=True, eq=False, kw_only=True)
class Stack:
    """The layers that add to one residual stream, which begins with the input of a text."""

    stack: str  # "decoder"
    text: str  # the text that its rows read
    layers: tuple[tuple[Sublayer, ...], ...]  # each in the order in which it runs
    last: Norm | None = None  # at the end of a pre-norm stack

    def output(self, layer: int) -> str:
        """Return the name of a layer's output, such as "decoder.0.ffn.residual"."""
        return self._after(layer, len(self.layers[layer]) - 1)

    def state(self, layer: int, sublayer: int) -> str:
        """Return the name of the stream that a sublayer reads, before a norm of its own."""
        if sublayer:
            return self._after(layer, sublayer - 1)
        return self.output(layer - 1) if layer else f"{self.text}.input"

    def _after(self, layer: int, sublayer: int) -> str:
        sublayer_ = self.layers[layer][sublayer]
        return f"{self.stack}.{layer}.{sublayer_.name}.{'norm' if sublayer_.post else 'residual'}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Stream(Stack):
    """A stack whose last states give logits.

    logits(x) = (norm(x) Wᵀ) · scale + bias, if they are linear; `logits` computes them in any case.
    """

    matrix: Tensor  # (V, D)
    logits: Callable[[Tensor], Tensor]  # of a layer's output (T, D): (T, V)
    bias: Tensor | None = None  # (V,)
    scale: float = 1.0
    exact: bool = True  # whether logits are a sum of contributions


MIX, OUTPUT = "mix", "output"  # of the heads of an attention; of another sublayer, without its bias
B_O, B_2 = "b_o", "b_2"  # the bias of a sublayer's output
BETA, OWN_BETA = "bias", "own_bias"  # the shift of a norm
EMBEDDING, POSITION = "embedding", "position"
Reader = tuple[int, int]  # the layer, and the index in it, of the sublayer that reads the stream


@dataclass(frozen=True)
class Origin:
    """Where a term comes from: `f"{at}.{part}"` is a tensor of the trace, or a parameter."""

    at: str
    """A place such as "decoder.0.self", a stack, or a text such as "source"."""
    part: str
    """Of the heads "mix", of a feed-forward layer "output" (without its bias); the biases "b_q",
    "b_k", "b_o", "b_2"; "bias" and "own_bias" of norms; of a text "embedding" and
    "position"; "patch": what an intervention put in, beyond these."""
    head: int | None = None
    """The head, for "mix"."""


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """One request's recorded tensors."""

    recorder: Recorder
    device: torch.device

    def __getitem__(self, name: str) -> Tensor:
        """Return a recorded tensor on the model's device."""
        return self.recorder.tensors[name].value.to(self.device)

    def __contains__(self, name: str) -> bool:
        return name in self.recorder.tensors

    def skips(self, name: str) -> bool:
        """Return whether a residual includes its input; `drop` removes it."""
        interventions = self.recorder.interventions
        return not any(change.do == "drop" and change.at == name for change in interventions)


def needed_for_terms(stack: Stack, reader: Reader | None = None) -> set[str]:
    """Return the tensors to record for `terms`."""
    names = {f"{stack.text}.{EMBEDDING}", f"{stack.text}.{POSITION}"}
    if reader is None and stack.last is not None:
        names.add(stack.output(len(stack.layers) - 1))
    for layer, index in _before(stack, reader):
        sublayer = stack.layers[layer][index]
        parts = {sublayer.read} if sublayer.W_o is None or sublayer.own else set[str]()
        parts |= {MIX} if sublayer.W_o is not None else set()
        parts |= {"residual"} if sublayer.post else set()
        names |= {f"{stack.stack}.{layer}.{sublayer.name}.{part}" for part in parts}
    return names


def stream_terms(
    stack: Stack, run: Recorded, d: Tensor, rows: slice, reader: Reader | None = None
) -> Iterator[tuple[Origin, Tensor]]:
    """Yield the terms of d · x, the last ones first: (R,), of all heads of an attention (H, R).

    `d` (R, D) are the directions in which these rows of the stream are read: one for each row, or
    several for one row. `reader` is the sublayer that reads; None: what follows the stack.
    """
    d = d.double()
    if reader is None and stack.last is not None:
        if stack.last.shift is not None:
            yield Origin(stack.stack, BETA), d @ stack.last.shift.double()
        d = stack.last.before(d, run[stack.output(len(stack.layers) - 1)][rows])
    for layer, index in reversed(list(_before(stack, reader))):
        sublayer = stack.layers[layer][index]
        place = f"{stack.stack}.{layer}.{sublayer.name}"
        if sublayer.post is not None:
            if sublayer.post.shift is not None:
                yield Origin(place, BETA), d @ sublayer.post.shift.double()
            d = sublayer.post.before(d, run[f"{place}.residual"][rows])
        yield from _added(run, place, sublayer, d, rows)
        if not run.skips(f"{place}.residual"):
            d = torch.zeros_like(d)
    for part in (POSITION, EMBEDDING):
        if (name := f"{stack.text}.{part}") in run:
            yield Origin(stack.text, part), (run[name][rows].double() * d).sum(dim=-1)


def _before(stack: Stack, reader: Reader | None) -> Iterator[Reader]:
    """Yield the sublayers that run before the one that reads."""
    for layer, sublayers in enumerate(stack.layers):
        for index in range(len(sublayers)):
            if (layer, index) == reader:
                return
            yield layer, index


def _added(
    run: Recorded, place: str, sublayer: Sublayer, d: Tensor, rows: slice
) -> Iterator[tuple[Origin, Tensor]]:
    """Yield what a sublayer adds along the directions: by head, or in one sum."""
    if sublayer.own is not None:
        if sublayer.own.shift is not None:
            yield Origin(place, OWN_BETA), d @ sublayer.own.shift.double()
        d = sublayer.own.before(d, run[f"{place}.{sublayer.read}"][rows])
    bias = None if sublayer.bias is None else sublayer.bias.double()
    if bias is not None:
        yield Origin(place, B_2 if sublayer.W_o is None else B_O), d @ bias
    if sublayer.W_o is not None:
        yield Origin(place, MIX), _heads(sublayer.W_o, run[f"{place}.{MIX}"][:, rows], d)
        return
    output = run[f"{place}.{sublayer.read}"][rows].double()
    yield Origin(place, OUTPUT), ((output if bias is None else output - bias) * d).sum(dim=-1)


def _heads(matrix: Tensor, mix: Tensor, d: Tensor) -> Tensor:
    """Return mix_h W_O_h · d of each head (H, R), from the `mix` (H, T, d_v) of the rows."""
    read = d @ matrix.double().T  # (R, H · d_v)
    read = read.reshape(d.shape[0], mix.shape[0], -1).transpose(0, 1)  # (H, R, d_v)
    added: Tensor = (mix.double() * read).sum(dim=-1)
    return added
