"""The logit lens, and what each part adds to a token's logit.

Computed from recorded tensors when selected by name (``inside.…``); docs/inside.md says what is
exact and what is an approximation. A layer's output is x = LayerNorm(x + o) in a post-norm model;
in a pre-norm one it is x + o, and one norm after the last layer reads it.

The model is described by a `Stream`. Shapes: L layers of its stack, H heads, T rows, D features,
V vocabulary. Row i predicts `written[i]`; rows of padding predict nothing: their numbers are NaN,
their rank is 0.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model.explain.stream import Stream, Sublayer
from model.trace.name_patterns import INSIDE
from model.trace.tensor_tap import HEAD, LAYER, QUERY, RANK, Recorder

LENS = {
    "probabilities": (LAYER, QUERY, RANK),  # of the ten most probable tokens after a layer
    "candidates": (LAYER, QUERY, RANK),  # their ids
    "written": (LAYER, QUERY),  # the probability of the token that is written in the end
    "rank": (LAYER, QUERY),  # its rank in the whole vocabulary, from 1
}
LOGIT = {
    "self": (LAYER, HEAD, QUERY),  # each head of self-attention, through W_O
    "cross": (LAYER, HEAD, QUERY),
    "ffn": (LAYER, QUERY),  # without its bias
    "bias": (LAYER, QUERY),  # b_O of its attentions, b_2; that of the output is the last one's
    "norm": (
        LAYER,
        QUERY,
    ),  # β of its norms; that of the norm after the last layer is the last one's
    "embedding": (QUERY,),
    "position": (QUERY,),
    "total": (QUERY,),  # the logit itself, from the last layer's output: the sum of the others
}
CANDIDATES = 10
ROWS = 160  # of all layers, read through the output matrix at once
WEIGHTS = ".weights"


def names(stream: Stream, recorded: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the tensors of the lens and of contributions for this stream, with their dims."""
    found = {f"{INSIDE}lens.{name}": dims for name, dims in LENS.items()}
    if not stream.exact:
        return found
    has = {"embedding", "total", "ffn", "bias", "norm"}
    has |= {sublayer.name for sublayer in stream.layers[0]}
    if f"{stream.text}.position" in recorded:
        has.add("position")
    logit = {f"{INSIDE}logit.{name}": dims for name, dims in LOGIT.items() if name in has}
    return {**found, **logit}


def needed(stream: Stream, selected: Iterable[str]) -> set[str]:
    """Return the tensors to record for the selected ones."""
    groups = {name.split(".")[1] for name in selected if name.startswith(INSIDE)}
    found: set[str] = set()
    if groups & {"lens", "logit"}:
        found |= {stream.output(layer) for layer in range(len(stream.layers))}
    if "logit" in groups:
        found |= {f"{stream.text}.embedding", f"{stream.text}.position"}
        for index, layer in enumerate(stream.layers):
            for sublayer in layer:
                parts = {sublayer.read} if sublayer.W_o is None or sublayer.own else set[str]()
                parts |= {"mix"} if sublayer.W_o is not None else set()
                parts |= {"residual"} if sublayer.post else set()
                found |= {f"{stream.stack}.{index}.{sublayer.name}.{part}" for part in parts}
    return found


def look(
    stream: Stream,
    recorders: Sequence[Recorder],
    written: Sequence[Sequence[int]],
) -> None:
    """Add to each recorder what it selects of `names`; it must have recorded what is `needed`."""
    for recorder, ids in zip(recorders, written, strict=True):
        groups = {name.split(".")[1] for name in recorder.select if name.startswith(INSIDE)}
        run = RecordedRun(stream, recorder, ids)
        for group, read, dims in (("lens", lens, LENS), ("logit", contributions, LOGIT)):
            if group in groups:
                for name, value in read(run).items():
                    over = {QUERY: stream.text}
                    recorder.record(f"{INSIDE}{group}.{name}", value, dims[name], over)


@dataclass(frozen=True)
class RecordedRun:
    """One request's recorded tensors, and the ids that its rows predict."""

    stream: Stream
    recorder: Recorder
    written: Sequence[int]

    def __getitem__(self, name: str) -> Tensor:
        """Return a recorded tensor on the model's device."""
        return self.recorder.tensors[name].value.to(self.stream.matrix.device)

    def output(self, layer: int) -> Tensor:
        """Return the output of a layer (T, D), before the norm at the end of the stack."""
        return self[self.stream.output(layer)]

    def skips(self, name: str) -> bool:
        """Return whether a residual includes its input; `drop` removes it."""
        made = self.recorder.interventions
        return not any(one.do == "drop" and one.at == name for one in made)

    def rows(self, values: Tensor, nothing: float) -> Tensor:
        """Return `values` (…, written) padded with `nothing` for rows of padding: (…, T)."""
        behind = len(self.output(0)) - len(self.written)
        return torch.nn.functional.pad(values, (0, behind), value=nothing)


def lens(run: RecordedRun) -> dict[str, Tensor]:
    """Read the output of every layer as if it were the last one.

    Exact for the last layer. The outputs of other layers were not trained to be read this way: the
    result is an interpretation, not a computation of the model.

    Source: logit lens, nostalgebraist 2020, "interpreting GPT: the logit lens".
    """
    ids = torch.tensor(run.written, device=run.stream.matrix.device)
    found: dict[str, list[Tensor]] = {name: [] for name in LENS}
    for logits in _logits(run):
        probabilities = logits.softmax(dim=-1)  # (T, V)
        top = probabilities.topk(min(CANDIDATES, probabilities.shape[-1]), dim=-1)
        own = probabilities[range(len(ids)), ids]
        above = probabilities[: len(ids)] > own[:, None]
        found["probabilities"].append(top.values)
        found["candidates"].append(top.indices)
        found["written"].append(run.rows(own, torch.nan))
        found["rank"].append(run.rows(1 + above.sum(dim=-1), 0))
    return {name: torch.stack(layers) for name, layers in found.items()}


def _logits(run: RecordedRun) -> Iterator[Tensor]:
    """Yield the logits (T, V) after each layer, computed for several at once: W is large."""
    outputs = [run.output(layer) for layer in range(len(run.stream.layers))]
    rows = len(outputs[0])
    several = max(1, ROWS // rows)
    for start in range(0, len(outputs), several):
        some = torch.cat(outputs[start : start + several])
        yield from torch.split(run.stream.logits(some), rows)


def contributions(run: RecordedRun) -> dict[str, Tensor]:
    """Return what each part of the stack adds to the logit of the token that a row predicts.

    logit = e · x_L for the token's output vector e, and every norm is affine if its σ is fixed:

        LayerNorm(r) = γ ⊙ (r − mean(r)) / σ(r) + β

    so the logit is a sum with one term for each contribution to the stream. Go back from the end
    with the direction d in which the stream is read: d = e at the end, and through a norm
    d ← centred(γ ⊙ d) / σ (RMSNorm: d ← γ ⊙ d / rms). Computed in float64.

    Source: direct logit attribution, Elhage et al. 2021, "A Mathematical Framework for Transformer
    Circuits"; here including every norm on the path.
    """
    stream, count = run.stream, len(run.written)
    ids = torch.tensor(run.written, device=stream.matrix.device)
    d = stream.matrix[ids].double() * stream.scale  # (T, D)
    layers = len(stream.layers)
    parts = {n: torch.zeros(layers, count, dtype=torch.double) for n in ("ffn", "bias", "norm")}
    heads: dict[str, list[Tensor]] = {}
    if stream.bias is not None:
        parts["bias"][-1] += stream.bias[ids].double().cpu()
    if stream.last is not None:
        if stream.last.shift is not None:
            parts["norm"][-1] += (d @ stream.last.shift.double()).cpu()
        d = stream.last.before(d, run.output(layers - 1)[:count])
    for index in reversed(range(layers)):
        for sublayer in reversed(stream.layers[index]):
            d = _through(run, index, sublayer, d, parts, heads)
    return {
        name: run.rows(value.float(), torch.nan)
        for name, value in {
            **{name: torch.stack(of) for name, of in heads.items()},
            **parts,
            **_at_input(run, d),
            "total": stream.logits(run.output(layers - 1))[range(count), ids],
        }.items()
    }


def _through(
    run: RecordedRun,
    index: int,
    sublayer: Sublayer,
    d: Tensor,
    parts: dict[str, Tensor],
    heads: dict[str, list[Tensor]],
) -> Tensor:
    """Add what a sublayer contributes; return the direction before it (T, D)."""
    name = f"{run.stream.stack}.{index}.{sublayer.name}"
    if sublayer.post is not None:
        if sublayer.post.shift is not None:
            parts["norm"][index] += (d @ sublayer.post.shift.double()).cpu()
        d = sublayer.post.before(d, run[f"{name}.residual"][: len(d)])
    added = _added(run, name, sublayer, d)
    if "heads" in added:
        heads.setdefault(sublayer.name, []).insert(0, added.pop("heads"))
    for part, value in added.items():
        parts[part][index] += value
    return d if run.skips(f"{name}.residual") else torch.zeros_like(d)


def _added(run: RecordedRun, name: str, sublayer: Sublayer, d: Tensor) -> dict[str, Tensor]:
    """Return what a sublayer adds along the direction `d` (T, D): by head or in one sum."""
    found: dict[str, Tensor] = {}
    count = len(d)
    if sublayer.own is not None:
        if sublayer.own.shift is not None:
            found["norm"] = (d @ sublayer.own.shift.double()).cpu()
        d = sublayer.own.before(d, run[f"{name}.{sublayer.read}"][:count])
    if sublayer.bias is not None:
        found["bias"] = (d @ sublayer.bias.double()).cpu()
    if sublayer.W_o is not None:
        found["heads"] = _heads(sublayer.W_o, run[f"{name}.mix"][:, :count], d)
        return found
    output = run[f"{name}.{sublayer.read}"][:count].double()
    if sublayer.bias is not None:
        output = output - sublayer.bias.double()
    found["ffn"] = (output * d).sum(dim=-1).cpu()
    return found


def _heads(matrix: Tensor, mix: Tensor, d: Tensor) -> Tensor:
    """Return mix_h W_O_h · d of each head (H, T), from its `mix` (H, T, d_v)."""
    read = d @ matrix.double().T  # (T, H · d_v)
    read = read.reshape(len(d), len(mix), -1).transpose(0, 1)  # (H, T, d_v)
    added: Tensor = (mix.double() * read).sum(dim=-1).cpu()
    return added


def _at_input(run: RecordedRun, d: Tensor) -> dict[str, Tensor]:
    text, recorded = run.stream.text, run.recorder.tensors
    return {
        name: (run[f"{text}.{name}"][: len(d)].double() * d).sum(dim=-1).cpu()
        for name in ("embedding", "position")
        if f"{text}.{name}" in recorded
    }
