"""The logit lens, what each part adds to a token's logit, and why one token rather than another.

Computed from recorded tensors when selected by name (``inside.…``); docs/inside.md says what is
exact and what is an approximation. A layer's output is x = LayerNorm(x + o) in a post-norm model;
in a pre-norm one it is x + o, and one norm after the last layer reads it.

The model is described by a `Stream`. Shapes: L layers of its stack, H heads, T rows, D features,
V vocabulary. Row i predicts `written[i]`; rows of padding predict nothing: their numbers are NaN,
their rank is 0.

A contrast says what each part adds to log p(w) / p(z). For a row that predicts w, and another token
z with output vector e_z,

    log p(w) / p(z) = logit_w − logit_z = (e_w − e_z) · x_L + b_w − b_z

is a sum of the same terms as a logit, along another direction: what raises all logits alike adds
nothing. The lens reads it after every layer, and the gradient of one row's tells how much it
depends on each attention weight.

Contrasts are selected by name. `inside.contrast.runner-up.…` contrasts with the most probable token
other than w, `inside.contrast.1234.…` with the token of that id:

    ….self .cross .ffn .bias .norm .embedding .position .total   as those of `inside.logit.…`
    ….lens           the contrast after each layer
    ….candidates     the id of z for each row
    ….3.decoder.0.self   gradient × attention of row 3, of this attention

Source: the difference of two logits as what is to be explained, Wang et al. 2023,
"Interpretability in the Wild", section 3.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from model.errors import Excess, InputError
from model.explain.residual_stream import (
    B_2,
    B_O,
    BETA,
    MIX,
    OUTPUT,
    OWN_BETA,
    Recorded,
    Stream,
    needed_for_terms,
    stream_terms,
)
from model.trace.tensor_names import INSIDE
from model.trace.tensor_tap import HEAD, KEY, LAYER, QUERY, RANK, Recorder

CONTRAST = f"{INSIDE}contrast."

RUNNER_UP: Literal["runner-up"] = "runner-up"

NAMED = re.compile(rf"{re.escape(CONTRAST)}({RUNNER_UP}|\d{{1,9}})\.(?:(\d{{1,6}})\.)?(.+)")

PARTS = {"lens": (LAYER, QUERY), "candidates": (QUERY,)}  # besides those of a logit

MOST = 8  # tokens and rows that a request may name


@dataclass(frozen=True)
class Contrast:
    """A token to contrast with, and the row whose gradient is asked for, if any."""

    against: str  # an id, or `RUNNER_UP`
    row: int | None

    @property
    def id(self) -> int | None:
        """The token's id; None: the most probable other one of each row."""
        return None if self.against == RUNNER_UP else int(self.against)

    def name(self, part: str) -> str:
        """Return the name of one of its tensors."""
        row = "" if self.row is None else f"{self.row}."
        return f"{CONTRAST}{self.against}.{row}{part}"


def parsed(name: str) -> tuple[Contrast, str] | None:
    """Return the contrast that a pattern or name is about, and its part; None if it is another."""
    if not (match := NAMED.fullmatch(name)):
        return None
    against, row, part = match.groups()
    return Contrast(against, None if row is None else int(row)), part


def contrasts(patterns: Collection[str]) -> dict[Contrast, str]:
    """Return the contrasts that patterns or names are about, each with the first of them."""
    fields: dict[Contrast, str] = {}
    for pattern in patterns:
        if contrast := parsed(pattern):
            fields.setdefault(contrast[0], pattern)
    return fields


def contrast_names(
    logit: Mapping[str, tuple[str, ...]], places: Sequence[str], patterns: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Return the tensors of all contrasts that patterns name, with their dims.

    `logit` are the parts of a logit with their dims, `places` the attentions that have gradients.
    """
    dims_by_name: dict[str, tuple[str, ...]] = {}
    for contrast in contrasts(patterns):
        parts = (
            {**logit, **PARTS}
            if contrast.row is None
            else dict.fromkeys(places, (HEAD, QUERY, KEY))
        )
        dims_by_name |= {contrast.name(part): dims for part, dims in parts.items()}
    return dims_by_name


def check_contrast_count(patterns: Sequence[str]) -> None:
    """Raise `InputError` for too many contrasts."""
    if (count := len(contrasts(patterns))) > MOST:
        detail = f"select names {count} tokens and rows of {CONTRAST}*; at most {MOST}"
        raise InputError("too-many-patterns", "select", detail, Excess(MOST, "entries", count))


def check_contrasts(patterns: Sequence[str], vocabulary: int, rows: int) -> None:
    """Raise `InputError` for too many contrasts, or a token or row that does not exist."""
    check_contrast_count(patterns)
    for contrast, pattern in contrasts(patterns).items():
        field = f"select[{list(patterns).index(pattern)}]"
        for name, value, size in (("token", contrast.id, vocabulary), ("row", contrast.row, rows)):
            if value is not None and value >= size:
                detail = f"{field}: {name} must be from 0 to {size - 1}"
                raise InputError("out-of-range", field, detail)


def selected_contrasts(
    names_: Collection[str], *, rows: bool
) -> Iterator[tuple[Contrast, set[str]]]:
    """Yield the contrasts of one row (`rows`), or of all rows, with their selected parts."""
    parts: dict[Contrast, set[str]] = {}
    for name in names_:
        if contrast_and_part := parsed(name):
            parts.setdefault(contrast_and_part[0], set()).add(contrast_and_part[1])
    yield from (
        (contrast, contrast_names)
        for contrast, contrast_names in parts.items()
        if (contrast.row is not None) == rows
    )


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

GROUPS = {OUTPUT: "ffn", B_O: "bias", B_2: "bias", BETA: "norm", OWN_BETA: "norm"}

CANDIDATES = 10

ROWS = 160  # of all layers, read through the output matrix at once

WEIGHTS = ".weights"


def names(stream: Stream, recorded: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the tensors of the lens and of contributions for this stream, with their dims."""
    dims_by_name = {f"{INSIDE}lens.{name}": dims for name, dims in LENS.items()}
    logit = {f"{INSIDE}logit.{name}": dims for name, dims in parts(stream, recorded).items()}
    return {**dims_by_name, **logit}


def parts(stream: Stream, recorded: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return what a logit of this stream is a sum of, and "total", with their dims; {}: no sum."""
    if not stream.exact:
        return {}
    has = {"embedding", "total", "ffn", "bias", "norm"}
    has |= {sublayer.name for sublayer in stream.layers[0]}
    if f"{stream.text}.position" in recorded:
        has.add("position")
    return {name: dims for name, dims in LOGIT.items() if name in has}


def needed(stream: Stream, selected: Iterable[str]) -> set[str]:
    """Return the tensors to record for the selected ones."""
    groups = {name.split(".")[1] for name in selected if name.startswith(INSIDE)}
    recorded: set[str] = set()
    if groups & {"lens", "logit", "contrast"}:
        recorded |= {stream.output(layer) for layer in range(len(stream.layers))}
    if groups & {"logit", "contrast"} and stream.exact:
        recorded |= needed_for_terms(stream)
    return recorded


def look(
    stream: Stream,
    recorders: Sequence[Recorder],
    written: Sequence[Sequence[int]],
) -> None:
    """Add to each recorder what it selects of `names`; it must have recorded what is `needed`."""
    for recorder, ids in zip(recorders, written, strict=True):
        groups = {name.split(".")[1] for name in recorder.select if name.startswith(INSIDE)}
        run = RecordedRun(
            recorder=recorder, device=stream.matrix.device, stream=stream, written=ids
        )
        for group, read, dims in (("lens", lens, LENS), ("logit", contributions, LOGIT)):
            if group in groups:
                for name, value in read(run).items():
                    over = {QUERY: stream.text}
                    recorder.record(f"{INSIDE}{group}.{name}", value, dims[name], over)
        for selected, parts_ in selected_contrasts(recorder.select, rows=False):
            for part, value in contrasted(run, selected, parts_).items():
                dims_ = {**LOGIT, **PARTS}[part]
                recorder.record(selected.name(part), value, dims_, {QUERY: stream.text})


@dataclass(frozen=True, kw_only=True)
class RecordedRun(Recorded):
    """One request's recorded tensors, and the ids that its rows predict."""

    stream: Stream
    written: Sequence[int] | Tensor
    at_once: int = ROWS
    """Rows of all layers whose logits are computed together; 0: each layer by itself."""

    def output(self, layer: int) -> Tensor:
        """Return the output of a layer (T, D), before the norm at the end of the stack."""
        return self[self.stream.output(layer)]

    def rows(self, values: Tensor, nothing: float) -> Tensor:
        """Return `values` (…, written) padded with `nothing` for rows of padding: (…, T)."""
        behind = self.output(0).shape[0] - torch.as_tensor(self.written).shape[0]
        return torch.nn.functional.pad(values, (0, behind), value=nothing)


def lens(run: RecordedRun) -> dict[str, Tensor]:
    """Read the output of every layer as if it were the last one.

    Exact for the last layer. The outputs of other layers were not trained to be read this way: the
    result is an interpretation, not a computation of the model.

    Source: logit lens, nostalgebraist 2020, "interpreting GPT: the logit lens".
    """
    ids = torch.as_tensor(run.written, device=run.stream.matrix.device)
    tensors: dict[str, list[Tensor]] = {name: [] for name in LENS}
    for logits in _logits(run):
        probabilities = logits.softmax(dim=-1)  # (T, V)
        top = probabilities.topk(min(CANDIDATES, probabilities.shape[-1]), dim=-1)
        written = probabilities[torch.arange(ids.shape[0], device=ids.device), ids]
        above = probabilities[: ids.shape[0]] > written[:, None]
        tensors["probabilities"].append(top.values)
        tensors["candidates"].append(top.indices)
        tensors["written"].append(run.rows(written, torch.nan))
        tensors["rank"].append(run.rows(1 + above.sum(dim=-1), 0))
    return {name: torch.stack(layers) for name, layers in tensors.items()}


def _logits(run: RecordedRun) -> Iterator[Tensor]:
    """Yield the logits (T, V) after each layer, computed for several at once: W is large."""
    outputs = [run.output(layer) for layer in range(len(run.stream.layers))]
    rows = outputs[0].shape[0]
    if not run.at_once:
        yield from map(run.stream.logits, outputs)
        return
    several = max(1, run.at_once // rows)
    for start in range(0, len(outputs), several):
        group = torch.cat(outputs[start : start + several])
        yield from torch.split(run.stream.logits(group), rows)


def contrasted(
    run: RecordedRun, contrast_: Contrast, selected: Collection[str]
) -> dict[str, Tensor]:
    """Return the contrast after each layer, the tokens contrasted with, and what adds to it."""
    last = run.stream.logits(run.output(len(run.stream.layers) - 1))[range(len(run.written))]
    return contrasted_with(run, others(last, run.written, contrast_.id), selected)


def contrasted_with(
    run: RecordedRun, against: Tensor, selected: Collection[str]
) -> dict[str, Tensor]:
    """Return the same for the tokens to contrast with (T,), as ids."""
    ids = torch.as_tensor(run.written, device=run.stream.matrix.device)
    rows = torch.arange(ids.shape[0], device=ids.device)
    tensors = {"candidates": run.rows(against, 0)}
    if "lens" in selected:  # the logits of all layers together would not fit into memory
        lensed = [logits[rows, ids] - logits[rows, against] for logits in _logits(run)]
        tensors["lens"] = run.rows(torch.stack(lensed), torch.nan)
    if selected - PARTS.keys():
        tensors |= contributions(run, against)
    return {part: value for part, value in tensors.items() if part in selected}


def others(logits: Tensor, written: Sequence[int] | Tensor, id_: int | None) -> Tensor:
    """Return the token to contrast with in each row (T,); None: the most probable other one."""
    ids = torch.as_tensor(written, device=logits.device)
    if id_ is not None:
        return torch.full_like(ids, id_)
    return logits.scatter(1, ids[:, None], -torch.inf).argmax(dim=-1)


def contributions(run: RecordedRun, against: Tensor | None = None) -> dict[str, Tensor]:
    """Return what each part of the stack adds to the logit of the token that a row predicts.

    logit = e · x_L for the token's output vector e, a sum of `terms` with every norm held fixed.
    With `against` (T,), ids: to its difference from the logit of these tokens.

    Source: direct logit attribution, Elhage et al. 2021, "A Mathematical Framework for Transformer
    Circuits"; here including every norm on the path.
    """
    stream = run.stream
    ids = torch.as_tensor(run.written, device=stream.matrix.device)
    count = ids.shape[0]  # not `len`, which a graph that is exported would take as fixed

    def of(read: Callable[[Tensor], Tensor]) -> Tensor:
        return read(ids) if against is None else read(ids) - read(against)

    d = of(lambda ids: stream.matrix[ids].double()) * stream.scale  # (T, D)
    layers = len(stream.layers)
    parts = {n: torch.zeros(layers, count, dtype=torch.double) for n in ("ffn", "bias", "norm")}
    heads: dict[str, list[Tensor]] = {}
    at_input: dict[str, Tensor] = {}
    if stream.bias is not None:
        bias = stream.bias.double()
        parts["bias"][-1] += of(lambda ids: bias[ids]).cpu()
    for origin, value in stream_terms(stream, run, d, slice(count)):
        _, *layer, kind = origin.at.split(".") if "." in origin.at else ("", origin.at)
        if origin.part == MIX:
            heads.setdefault(kind, []).insert(0, value.cpu())
        elif origin.at == stream.text:
            at_input[origin.part] = value.cpu()
        else:  # the norm after the last layer is listed with it
            parts[GROUPS[origin.part]][int(layer[0]) if layer else -1] += value.cpu()
    last = stream.logits(run.output(layers - 1))
    return {
        name: run.rows(value.float(), torch.nan)
        for name, value in {
            **{name: torch.stack(layers_) for name, layers_ in heads.items()},
            **parts,
            **at_input,
            "total": of(lambda ids: last[torch.arange(count, device=ids.device), ids]),
        }.items()
    }
