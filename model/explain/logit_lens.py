"""What can be read out of a run: the logit lens, and what each part adds to a token's logit.

Computed from recorded tensors when it is asked for by name (``inside.…``); docs/inside.md says what
is exact in it and what is not. What a layer hands on is x = LayerNorm(x + o) in a post-norm model;
in a pre-norm one it is x + o, and one norm behind the last layer reads it.

Shapes: L decoder layers, H heads, T target rows, D features, V vocabulary. Row i writes
`written[i]`; rows of padding write nothing: their numbers are NaN, their rank is 0.
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
    "probabilities": (LAYER, QUERY, RANK),  # of the ten that a layer's stream makes most probable
    "candidates": (LAYER, QUERY, RANK),  # their ids
    "written": (LAYER, QUERY),  # the probability of the token that is written in the end
    "rank": (LAYER, QUERY),  # its rank among all of the vocabulary, from 1
}
LOGIT = {
    "self": (LAYER, HEAD, QUERY),  # each head of self-attention, through W_O
    "cross": (LAYER, HEAD, QUERY),
    "ffn": (LAYER, QUERY),  # without its bias
    "bias": (LAYER, QUERY),  # b_O of both attentions, b_2
    "norm": (LAYER, QUERY),  # β of the three norms; of a pre-norm model the last one's alone
    "embedding": (QUERY,),
    "position": (QUERY,),
    "total": (QUERY,),  # the logit itself, from the last stream: what the others add up to
}
SUBLAYERS = ("self", "cross", "ffn")
STREAM = ("norm", "residual")  # what a layer hands on: the one where post-norm, else the other
WEIGHTS = ".weights"


def names(recorded: Collection[str]) -> dict[str, tuple[str, ...]]:
    """What there is to see inside a model that records these names, with its dims."""
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
    """The tensors to record for what is selected of these."""
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
    """Adds to each recorder what it selects of `names`; it has recorded what is `needed`."""
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
    """One request's: what was recorded, and the ids that its rows write."""

    model: Transformer
    recorder: Recorder
    written: Sequence[int]

    def __getitem__(self, name: str) -> Tensor:
        """A recorded tensor on the model's device."""
        return self.recorder.tensors[name].value.to(self.model.embedding.weight.device)

    @property
    def last_norm(self) -> Last | None:
        """The norm that reads the stream of a pre-norm model; a post-norm one needs none."""
        norm = self.model.decoder_norm
        return norm if isinstance(norm, Last) else None

    def stream(self, layer: int) -> Tensor:
        """What a decoder layer hands on (T, D), as the output matrix reads it."""
        if self.last_norm is None:
            return self[f"decoder.{layer}.ffn.norm"]
        read: Tensor = self.last_norm(self[f"decoder.{layer}.ffn.residual"], NULL)
        return read

    def skips(self, name: str) -> bool:
        """Whether a residual adds what came before; `drop` takes that away."""
        made = self.recorder.interventions
        return not any(one.do == "drop" and one.at == name for one in made)

    def rows(self, values: Tensor, nothing: float) -> Tensor:
        """`values` (…, written) with `nothing` in the rows behind, which write nothing: (…, T)."""
        behind = len(self.stream(0)) - len(self.written)
        return torch.nn.functional.pad(values, (0, behind), value=nothing)


def lens(run: RecordedRun) -> dict[str, Tensor]:
    """Each layer's stream through the output matrix, as if the layers behind it were not there.

    Exact for the last layer. The others' streams were never meant for this matrix: what they say
    in it is a reading, not a computation of the model.

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
    """What each part of the decoder adds to the logit of the token that a row writes.

    logit = e · x_L for the token's output embedding e, and every norm is affine once its σ is held:

        LayerNorm(r) = γ ⊙ (r − mean(r)) / σ(r) + β

    so the logit is a sum with one term for everything that was ever added to the stream. We walk
    back with the direction d in which the stream is read: d = e at the end, and through a norm
    d ← centred(γ ⊙ d) / σ. Mean and σ are those of this run. Float64 from what was recorded.

    Source: direct logit attribution, Elhage et al. 2021, "A Mathematical Framework for Transformer
    Circuits"; here with every norm on the way: of a post-norm model those of all later sublayers,
    of a pre-norm one the last.
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
    """A decoder layer's sublayers, the last one first: place, norm, and the bias of its output."""
    layer = model.decoder[index]
    assert isinstance(layer, DecoderLayer)
    yield "ffn", layer.ffn_norm.norm, layer.ffn.W_2.bias
    yield "cross", layer.cross_norm.norm, _bias(layer.cross_attention.W_o)
    yield "self", layer.self_norm.norm, _bias(layer.self_attention.W_o)


def _bias(linear: nn.Linear) -> Tensor:
    """Zeros where it has none."""
    none = linear.bias is None
    return linear.weight.new_zeros(linear.out_features) if none else linear.bias


def _before(norm: nn.LayerNorm, d: Tensor, residual: Tensor) -> Tensor:
    """The direction (T, D) in front of a norm that reads as `d` does behind it."""
    scaled = d * norm.weight.double()
    variance = residual.double().var(dim=-1, correction=0, keepdim=True)
    sigma = (variance + norm.eps).sqrt()
    return (scaled - scaled.mean(dim=-1, keepdim=True)) / sigma


def _heads(model: Transformer, index: int, place: str, mix: Tensor, d: Tensor) -> Tensor:
    """mix_h W_O_h · d of each head (H, T), from its `mix` (H, T, d_k)."""
    layer = model.decoder[index]
    attention = getattr(layer, f"{place}_attention")
    read = d @ attention.W_o.weight.double()  # (T, H · d_k)
    read = read.unflatten(-1, (attention.heads, -1)).transpose(0, 1)  # (H, T, d_k)
    added: Tensor = (mix[:, : len(d)].double() * read).sum(dim=-1).cpu()
    return added
