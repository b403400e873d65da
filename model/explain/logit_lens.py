"""The logit lens, and what each part adds to a token's logit.

Computed from recorded tensors when selected by name (``inside.…``); docs/inside.md says what is
exact and what is an approximation. A layer's output is x = LayerNorm(x + o) in a post-norm model;
in a pre-norm one it is x + o, and one norm after the last layer reads it.

Shapes: L decoder layers, H heads, T target rows, D features, V vocabulary. Row i predicts
`written[i]`; rows of padding predict nothing: their numbers are NaN, their rank is 0.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from model.explain.relevance import TokenBatch, relevance
from model.trace.name_patterns import INSIDE
from model.trace.tensor_tap import HEAD, KEY, LAYER, NULL, QUERY, RANK, TARGET, Recorder
from model.transformer.layers import DecoderLayer
from model.transformer.norms import Last
from model.transformer.stacks import CANDIDATES, Transformer

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
    "bias": (LAYER, QUERY),  # b_O of both attentions, b_2
    "norm": (LAYER, QUERY),  # β of the three norms; in a pre-norm model, only of the last one
    "embedding": (QUERY,),
    "position": (QUERY,),
    "total": (QUERY,),  # the logit itself, from the last layer's output: the sum of the others
}
SUBLAYERS = ("self", "cross", "ffn")
STREAM = ("norm", "residual")  # a layer's output: the first if post-norm, otherwise the second
WEIGHTS = ".weights"


def names(recorded: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the `inside` tensors of a model that records these names, with their dims."""
    if "decoder.0.ffn.residual" not in recorded:
        return {}
    places = [name.removesuffix(WEIGHTS) for name in recorded if name.endswith(WEIGHTS)]
    return {
        **{f"{INSIDE}lens.{name}": dims for name, dims in LENS.items()},
        **{
            f"{INSIDE}logit.{name}": dims
            for name, dims in LOGIT.items()
            if name != "position" or "target.position" in recorded
        },
        **{f"{INSIDE}relevance.{place}": (HEAD, QUERY, KEY) for place in places},
    }


def needed(selected: Iterable[str], layers: int) -> set[str]:
    """Return the tensors to record for the selected ones."""
    groups = {name.split(".")[1] for name in selected if name.startswith(INSIDE)}
    found: set[str] = set()
    if groups & {"lens", "logit"}:
        found |= {f"decoder.{index}.ffn.{name}" for index in range(layers) for name in STREAM}
    if "logit" in groups:
        found |= {"target.embedding", "target.position"}
        for index in range(layers):
            found |= {f"decoder.{index}.{place}.residual" for place in SUBLAYERS}
            found |= {f"decoder.{index}.{place}.mix" for place in ("self", "cross")}
            found.add(f"decoder.{index}.ffn.output")
    return found


def look(
    model: Transformer,
    batch: TokenBatch,
    recorders: Sequence[Recorder],
    written: Sequence[Sequence[int]],
) -> None:
    """Add the selected `names` to each recorder, which must have recorded the `needed` tensors."""
    for row, (recorder, ids) in enumerate(zip(recorders, written, strict=True)):
        groups = {name.split(".")[1] for name in recorder.select if name.startswith(INSIDE)}
        run = RecordedRun(model, recorder, ids)
        for group, read, dims in (("lens", lens, LENS), ("logit", contributions, LOGIT)):
            if group in groups:
                for name, value in read(run).items():
                    over = {QUERY: TARGET}
                    recorder.record(f"{INSIDE}{group}.{name}", value, dims[name], over)
        if "relevance" in groups:
            relevance(model, batch.row(row, recorder.lengths), recorder, ids)


@dataclass(frozen=True)
class RecordedRun:
    """One request's recorded tensors, and the ids that its rows predict."""

    model: Transformer
    recorder: Recorder
    written: Sequence[int]

    def __getitem__(self, name: str) -> Tensor:
        """Return a recorded tensor on the model's device."""
        return self.recorder.tensors[name].value.to(self.model.embedding.weight.device)

    @property
    def last_norm(self) -> Last | None:
        """The last norm of a pre-norm model; None for a post-norm model."""
        norm = self.model.decoder_norm
        return norm if isinstance(norm, Last) else None

    def stream(self, layer: int) -> Tensor:
        """Return the output of a decoder layer (T, D), as the output matrix reads it."""
        if self.last_norm is None:
            return self[f"decoder.{layer}.ffn.norm"]
        read: Tensor = self.last_norm(self[f"decoder.{layer}.ffn.residual"], NULL)
        return read

    def skips(self, name: str) -> bool:
        """Return whether a residual includes its input; `drop` removes it."""
        made = self.recorder.interventions
        return not any(one.do == "drop" and one.at == name for one in made)

    def rows(self, values: Tensor, nothing: float) -> Tensor:
        """Return `values` (…, written) padded with `nothing` for rows of padding: (…, T)."""
        behind = len(self.stream(0)) - len(self.written)
        return torch.nn.functional.pad(values, (0, behind), value=nothing)


def lens(run: RecordedRun) -> dict[str, Tensor]:
    """Apply the output matrix to each layer's output, as if later layers did not exist.

    Exact for the last layer. The outputs of other layers were not trained for this matrix: the
    result is an interpretation, not a computation of the model.

    Source: logit lens, nostalgebraist 2020, "interpreting GPT: the logit lens".
    """
    matrix = run.model.embedding.weight
    ids = torch.tensor(run.written, device=matrix.device)
    found: dict[str, list[Tensor]] = {name: [] for name in LENS}
    for layer in range(len(run.model.decoder)):
        probabilities = (run.stream(layer) @ matrix.T).softmax(dim=-1)  # (T, V)
        top = probabilities.topk(min(CANDIDATES, len(matrix)), dim=-1)
        own = probabilities[range(len(ids)), ids]
        above = probabilities[: len(ids)] > own[:, None]
        found["probabilities"].append(top.values)
        found["candidates"].append(top.indices)
        found["written"].append(run.rows(own, torch.nan))
        found["rank"].append(run.rows(1 + above.sum(dim=-1), 0))
    return {name: torch.stack(layers) for name, layers in found.items()}


def contributions(run: RecordedRun) -> dict[str, Tensor]:
    """Return what each part of the decoder adds to the logit of the token that a row predicts.

    logit = e · x_L for the token's output embedding e, and every norm is affine if its σ is fixed:

        LayerNorm(r) = γ ⊙ (r − mean(r)) / σ(r) + β

    so the logit is a sum with one term for each contribution to the residual stream. The direction
    d in which the stream is read is computed backwards: d = e at the end, and before a norm
    d ← centred(γ ⊙ d) / σ. Mean and σ are those of this run. Computed in float64.

    Source: direct logit attribution, Elhage et al. 2021, "A Mathematical Framework for Transformer
    Circuits"; here including every norm on the path: in a post-norm model those of all later
    sublayers, in a pre-norm one the last.
    """
    model, count = run.model, len(run.written)
    matrix = model.embedding.weight
    e = matrix[torch.tensor(run.written, device=matrix.device)].double()  # (T, D)
    layers = len(model.decoder)
    parts = {n: torch.zeros(layers, count, dtype=torch.double) for n in ("ffn", "bias", "norm")}
    heads = {name: list[Tensor]() for name in ("cross", "self")}
    d = e
    if run.last_norm is not None:
        parts["norm"][-1] += (d @ run.last_norm.bias.double()).cpu()
        d = _before(run.last_norm, d, run[f"decoder.{layers - 1}.ffn.residual"][:count])
    for index in reversed(range(layers)):
        for place, norm, bias in _sublayers(model, index):
            name = f"decoder.{index}.{place}"
            if run.last_norm is None:
                parts["norm"][index] += (d @ norm.bias.double()).cpu()
                d = _before(norm, d, run[f"{name}.residual"][:count])
            parts["bias"][index] += (d @ bias.double()).cpu()
            if place == "ffn":
                output = run[f"{name}.output"][:count].double() - bias.double()
                parts["ffn"][index] = (output * d).sum(dim=-1).cpu()
            else:
                heads[place].insert(0, _heads(model, index, place, run[f"{name}.mix"], d))
            if not run.skips(f"{name}.residual"):
                d = torch.zeros_like(d)
    found = {
        **{name: torch.stack(of) for name, of in heads.items()},
        **parts,
        **{
            name: (run[f"target.{name}"][:count] * d).sum(dim=-1)
            for name in ("embedding", "position")
            if f"target.{name}" in run.recorder.tensors
        },
        "total": (run.stream(layers - 1)[:count] * e).sum(dim=-1),
    }
    return {name: run.rows(value.float(), torch.nan) for name, value in found.items()}


def _sublayers(model: Transformer, index: int) -> Iterator[tuple[str, nn.LayerNorm, Tensor]]:
    """Yield a decoder layer's sublayers, last one first: place, norm, and output bias."""
    layer = model.decoder[index]
    assert isinstance(layer, DecoderLayer)
    yield "ffn", layer.ffn_norm.norm, layer.ffn.W_2.bias
    yield "cross", layer.cross_norm.norm, _bias(layer.cross_attention.W_o)
    yield "self", layer.self_norm.norm, _bias(layer.self_attention.W_o)


def _bias(linear: nn.Linear) -> Tensor:
    """Return the bias, or zeros if there is none."""
    none = linear.bias is None
    return linear.weight.new_zeros(linear.out_features) if none else linear.bias


def _before(norm: nn.LayerNorm, d: Tensor, residual: Tensor) -> Tensor:
    """Return the direction (T, D) before a norm that corresponds to `d` after it."""
    scaled = d * norm.weight.double()
    variance = residual.double().var(dim=-1, correction=0, keepdim=True)
    sigma = (variance + norm.eps).sqrt()
    return (scaled - scaled.mean(dim=-1, keepdim=True)) / sigma


def _heads(model: Transformer, index: int, place: str, mix: Tensor, d: Tensor) -> Tensor:
    """Return mix_h W_O_h · d of each head (H, T), from its `mix` (H, T, d_k)."""
    layer = model.decoder[index]
    attention = getattr(layer, f"{place}_attention")
    read = d @ attention.W_o.weight.double()  # (T, H · d_k)
    read = read.unflatten(-1, (attention.heads, -1)).transpose(0, 1)  # (H, T, d_k)
    added: Tensor = (mix[:, : len(d)].double() * read).sum(dim=-1).cpu()
    return added
