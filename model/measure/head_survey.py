"""Measures what the heads of any model do over a text: patterns, measures, similar heads, effects.

The result is `heads.json`, which has numbers and no sentence. On request, an index of all rows is
written as well, with the sentences: `model.corpus.row_index`.

What a head writes is gathered by the token that it looks at: what that adds to logits. A row counts
for a token if the head gives it at least half of its weight there.
"""

from __future__ import annotations

import json
import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from model.adapters.requests.adapter_interface import Adapter
from model.adapters.requests.model_info import ModelInfo
from model.adapters.requests.request import Request
from model.adapters.requests.trace import Trace
from model.bundle.measurements import REPORT
from model.corpus.row_index import SCALE, WRITTEN, Gathered, write_survey
from model.corpus.row_patterns import COUNTS, described, patterns_of, shares
from model.explain import direct_effect
from model.explain.patterns import Axes, Tally, tally
from model.explain.residual_stream import Stream
from model.measure.heads import divergences
from model.text.tokens import PAD
from model.trace.attentions import CROSS, AttentionInfo, alike

HALF = 0.5  # of a row's weight
LEAST = 3  # rows
LOOKED_AT, RAISED = 8, 5  # tokens listed for each head, and for each of them what it adds to
LOGIT_DIGITS = 2
Looked = tuple[str, int, str]  # the attention, the head, and the token that it looks at


class Writings:
    """Gathers the direct effects of the rows of the heads of one stream."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self._sums: dict[Looked, Tensor] = {}  # (D,)
        self._rows: dict[Looked, int] = defaultdict(int)

    def reads(self, attention: AttentionInfo) -> set[str]:
        """Return the tensors to select for `add`."""
        return direct_effect.reads(self.stream, attention)

    def add(self, trace: Trace, attention: AttentionInfo, weights: Tensor) -> None:
        """Add the rows of an attention of one sentence, weights (H, N, M)."""
        largest, key = weights.max(-1)
        tokens = trace.texts[attention.key]
        run = {name: trace[name].value.cpu() for name in self.reads(attention)}
        rows = slice(weights.shape[1])
        terms = direct_effect.carried(self.stream, attention, run, key, rows)
        for head, row in (largest >= HALF).nonzero().tolist():
            token = tokens[int(key[head, row])]
            if not token.special and token.text.strip():
                key_ = attention.place, head, token.text
                self._rows[key_] += 1
                term = terms[head, row]
                self._sums[key_] = self._sums[key_] + term if key_ in self._sums else term

    def of(self, place: str, head: int, text: Callable[[int], str]) -> list[dict[str, Any]]:
        """Return the tokens whose values add most to one logit, each with what it adds to.

        `text` gives the text of a token by its id.

        Logits are relative to their mean over the vocabulary: a constant changes no probability.
        """
        often = [
            (token, term / self._rows[at_, of, token])
            for (at_, of, token), term in self._sums.items()
            if (at_, of) == (place, head) and self._rows[at_, of, token] >= LEAST
        ]
        if not often:
            return []
        matrix = self.stream.matrix.detach().cpu().double() * self.stream.scale
        added = torch.stack([term for _, term in often]) @ matrix.T  # (looked at, V)
        best = (added - added.mean(dim=-1, keepdim=True)).topk(RAISED, dim=-1)
        order = best.values[:, 0].argsort(descending=True, stable=True)[:LOOKED_AT].tolist()
        return [
            {
                "token": often[n][0],
                "rows": self._rows[place, head, often[n][0]],
                "adds": [
                    [text(id_), round(value, LOGIT_DIGITS)]
                    for id_, value in zip(
                        best.indices[n].tolist(), best.values[n].tolist(), strict=True
                    )
                ],
            }
            for n in order
        ]


BATCH = 32  # sentences
COMPARED = 300  # sentences over which heads are compared with each other
SIMILAR = 5  # heads listed for each head
DIGITS = 4


def requests_of(info: ModelInfo, lines: Sequence[str]) -> list[Request]:
    """Return a request per sentence.

    A line is a text, or columns as in `model.train.data.read_rows`: two texts that are
    translations of each other, read in every direction that the model has.
    """
    requests = []
    for line in filter(str.strip, lines):
        *_, first, second = ["", *line.rstrip("\n").split("\t")]
        if not first:
            requests.append(Request(second))
        for direction in info.directions if first else ():
            read, written = direction.split("-")
            texts = dict(zip(info.languages, (first, second), strict=True))
            requests.append(Request(texts[read], direction, texts[written]))
        if first and not info.directions:
            requests.append(Request(first, None, second))
    return requests


def survey_heads(
    adapter: Adapter,
    lines: Sequence[str],
    folder: Path,
    *,
    title: str,
    count: int | None = None,
    index: bool = False,
    told: Callable[[int, int], object] = lambda done, of: None,
) -> dict[str, Any]:
    """Measure all heads over a text, and write `heads.json` into a folder; return it.

    `count` sentences are drawn with seed 0; None takes all. `index` also writes the index. `told`
    is called with the number of sentences that are done, and of all. Raises `ValueError` if the
    model can read none of the lines.
    """
    requests = [request for request in requests_of(adapter.info, lines) if adapter.takes(request)]
    if count is not None and count < len(requests):
        requests = random.Random(0).sample(requests, count)
    if not requests:
        raise ValueError("the model can read none of these lines")
    writings = Writings(adapter.stream) if adapter.stream else None
    gathered, tallies, apart = _run(adapter, requests, writings, told)
    survey = {
        "model": adapter.info.name,
        "digest": adapter.info.digest,
        "title": title,
        "sentences": len(requests),
        "tokens": gathered.counts(),
        **_costs(folder, adapter.info.digest),
        "heads": list(_heads(adapter.info, gathered, tallies, apart)),
    }
    costs = survey.pop("costs")

    def text(id_: int) -> str:
        return adapter.token(id_).text

    for head in survey["heads"]:
        head["cost"] = costs.get((head["place"], head["head"]))
        head["writes"] = writings.of(head["place"], head["head"], text) if writings else []
    write_survey(folder, survey)
    if index:
        gathered.write(folder, adapter.info.digest)
    return survey


def _run(
    adapter: Adapter,
    requests: Sequence[Request],
    writings: Writings | None,
    told: Callable[[int, int], object],
) -> tuple[Gathered, dict[str, Tally], dict[str, Tensor]]:
    """Return the rows, each attention's tally, and the mean distances of heads of one kind."""
    table = adapter.info.attentions
    gathered = Gathered({attention.place: _texts(attention) for attention in table})
    tallies: dict[str, Tally] = {}
    apart: dict[str, Tensor] = {}
    names = (
        {name for attention in table for name in writings.reads(attention)} if writings else set()
    )
    select = ("*.weights", "*.mask", *sorted(names))
    for start in range(0, len(requests), BATCH):
        told(start, len(requests))
        batch = [replace(request, select=select) for request in requests[start : start + BATCH]]
        for number, trace in enumerate(adapter.run(batch), start):
            gathered.add_sentence(_sentence(trace), _tokens(trace))
            for attention in table:
                weights, axes, mask = _attention(trace, attention)
                gathered.add_rows(attention.place, weights, axes, mask)
                if writings and writings.reads(attention):
                    writings.add(trace, attention, weights)
                tallied = tally(weights, axes, mask)
                tallies[attention.place] = (
                    tallies[attention.place] + tallied if attention.place in tallies else tallied
                )
            if number < COMPARED:
                for kind, between in _apart(trace, adapter.info).items():
                    apart[kind] = apart[kind] + between if kind in apart else between
    return (
        gathered,
        tallies,
        {kind: total / min(COMPARED, len(requests)) for kind, total in apart.items()},
    )


def _heads(
    info: ModelInfo, gathered: Gathered, tallies: dict[str, Tally], apart: dict[str, Tensor]
) -> Iterator[dict[str, Any]]:
    similar = _similar(info, apart)
    for attention in info.attentions:
        means = tallies[attention.place].means
        flags, weights = (
            gathered.rows(f"{attention.place}.{name}") for name in ("flags", "weight")
        )
        names = patterns_of(attention.kind == CROSS)
        for head in range(attention.heads):
            counts = flags[head] >= COUNTS
            largest = weights[head][counts].mean() / SCALE if counts.any() else math.nan
            measures = {name: float(value[head]) for name, value in means.items()}
            few = described(flags[head], names)
            yield {
                "place": attention.place,
                "head": head,
                "rows": int(counts.sum()),
                "measures": _rounded({"largest": float(largest), **measures}),
                "patterns": _rounded(shares(flags[head], names)),
                "described": [[name, _round(share)] for name, share in few.items()],
                "similar": similar[attention.place, head],
            }


def _similar(info: ModelInfo, apart: dict[str, Tensor]) -> dict[tuple[str, int], list[Any]]:
    """Return for each head the heads of its kind whose attention differs least, in nats."""
    similar = {}
    for kind, layers in alike(info.attentions).items():
        names = [(layer.place, head) for layer in layers for head in range(layer.heads)]
        for row, head_ in zip(apart[kind], names, strict=True):
            order = [
                index for index in np.argsort(row.numpy(), kind="stable") if names[index] != head_
            ]
            similar[head_] = [
                [*names[index], _round(float(row[index]))] for index in order[:SIMILAR]
            ]
    return similar


def _apart(trace: Trace, info: ModelInfo) -> dict[str, Tensor]:
    return {
        kind: divergences(torch.cat([_attention(trace, layer)[0] for layer in layers]))
        for kind, layers in alike(info.attentions).items()
    }


def _costs(folder: Path, digest: str) -> dict[str, Any]:
    """Return the loss without each head, as far as `report.json` in the folder has it."""
    path = folder / REPORT
    report = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if report.get("digest") != digest:
        return {"costs": {}, "pairs": None, "loss": None}
    costs = {
        (head["attention"], head["head"]): _rounded({name: head[name] for name in ("zero", "mean")})
        for head in report["heads"]
    }
    return {"costs": costs, "pairs": report["pairs"], "loss": _round(report["loss"])}


def _texts(attention: AttentionInfo) -> tuple[str, str]:
    return WRITTEN if attention.kind == CROSS else attention.query, attention.key


def _tokens(trace: Trace) -> dict[str, Sequence[Any]]:
    """Return the tokens of each text without padding, and those that are written."""
    read = {text: [t for t in tokens if not _pads(t)] for text, tokens in trace.texts.items()}
    return {**read, **({WRITTEN: trace.written.tokens} if trace.written else {})}


def _pads(token: Any) -> bool:
    return bool(token.special and token.text == PAD)


def _attention(trace: Trace, attention: AttentionInfo) -> tuple[Tensor, Axes, Tensor]:
    """Return weights (H, N, M), the tokens of their axes, and the mask (N, M)."""
    tokens, (query, key) = _tokens(trace), _texts(attention)
    axes = Axes(tokens[query], tokens[key], attention.kind == CROSS)
    unpadded = (..., slice(len(axes.queries)), slice(len(axes.keys)))
    weights, mask = (
        trace[f"{attention.place}.{name}"].value[unpadded].cpu() for name in ("weights", "mask")
    )
    return weights.float(), axes, mask


def _sentence(trace: Trace) -> dict[str, str]:
    request = trace.request
    optional = {"direction": trace.direction, "target": request.target}
    present = {name: text for name, text in optional.items() if text is not None}
    return {"source": request.source, **present}


def _rounded(values: dict[str, float]) -> dict[str, float | None]:
    return {name: _round(value) for name, value in values.items()}


def _round(value: float) -> float | None:
    return None if math.isnan(value) else round(value, DIGITS)
