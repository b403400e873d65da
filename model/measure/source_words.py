"""Error of word alignments from attributions to source words, against human alignment.

Each written word is linked to the source word that raises its log-probability most: attributions
are summed over the pieces of both words, since the log-probability of a word is the sum of its
pieces'. The heads that align best are measured on the same pairs, and the agreement of each
attribution with them: Kendall's τ_b of a written word's values over the source words.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder, load
from model.adapters.requests.request import Request
from model.bundle.measurements import REPORT, WRITES
from model.explain.attribution import LONGEST
from model.measure.word_alignment import (
    JOINED,
    AlignedPair,
    Link,
    error_rate,
    fitting,
    grown,
    joined,
    kept,
    links,
    membership,
    mirrored,
    read_aligned_pairs,
    words,
)
from model.trace.tensor_names import GRADIENT_INPUT, INTEGRATED, OCCLUSION

ATTRIBUTED = {
    "occlusion": OCCLUSION,
    "gradient × input": GRADIENT_INPUT,
    "integrated gradients": INTEGRATED,
}
Matrices = dict[str, Tensor]  # by method: (written words, source words)


def kendall(a: Tensor, b: Tensor) -> float:
    """Return Kendall's τ_b of two vectors (N,): NaN if all values of one are equal.

    τ_b = (concordant − discordant pairs) / √(pairs untied in a · pairs untied in b)

    Source: Kendall 1945, The Treatment of Ties in Ranking Problems.
    """
    first, second = ((x[:, None] - x[None]).sign().double() for x in (a, b))
    untied = (first.square().sum() * second.square().sum()).sqrt()
    return float((first * second).sum() / untied)


def write_sources(bundle: Path, folder: Path, limit: int) -> None:
    """Measure the second half of the hand-aligned pairs, and add the result to `report.json`.

    Only pairs whose two texts are short enough for integrated gradients are used, at most `limit`
    of them, evenly spaced.
    """
    adapter = load(bundle, "cpu")
    report = json.loads((bundle / REPORT).read_text(encoding="utf-8"))
    second = read_aligned_pairs(folder)
    languages = adapter.info.languages
    half = second[len(second) // 2 :]
    measured = measure(adapter, half, languages, report["alignment"]["best"], limit)
    report["sources"] = {"half": len(half)} | measured
    (bundle / REPORT).write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def measure(
    adapter: EncoderDecoder,
    pairs: Sequence[AlignedPair],
    languages: Sequence[str],
    heads: Sequence[dict[str, Any]],
    limit: int,
) -> dict[str, Any]:
    """Return error rates by method and direction, and the mean agreement with each head."""
    first, second = languages
    forth, back = f"{second}-{first}", f"{first}-{second}"
    fit = [pair.swapped() for pair in _short(adapter, [p.swapped() for p in pairs], back)]
    fit = _short(adapter, fit, forth)
    used = fit[:: max(1, -(-len(fit) // limit))]
    links_by_method: dict[str, dict[str, list[dict[Link, float]]]] = {}
    agreements: dict[str, dict[str, list[float]]] = {}
    for direction in (forth, back):
        for number, pair in enumerate(used):
            turned = pair if direction == forth else pair.swapped()
            matrices, written = attributed(adapter, turned, direction, heads)
            for method, matrix in matrices.items():
                by = links_by_method.setdefault(method, {})
                by.setdefault(direction, []).append(links(matrix, written))
            for method in ATTRIBUTED:
                for name in matrices.keys() - ATTRIBUTED.keys():
                    rows = zip(matrices[method], matrices[name], written, strict=True)
                    taus = [kendall(a, b) for a, b, there_ in rows if there_.any()]
                    agreements.setdefault(method, {}).setdefault(name, []).extend(taus)
            print(f"{direction}: {number + 1} of {len(used)} pairs", flush=True)
    return {
        "used": len(used),
        "methods": {
            method: dict(zip((forth, back, JOINED), _rates(by, forth, back, used), strict=True))
            for method, by in links_by_method.items()
        },
        "agreement": {
            method: {name: _mean(taus) for name, taus in by.items()}
            for method, by in agreements.items()
        },
    }


def attributed(
    adapter: EncoderDecoder, pair: AlignedPair, direction: str, heads: Sequence[dict[str, Any]]
) -> tuple[Matrices, Tensor]:
    """Return each method's matrix for a pair, source first, and the written words' tokens.

    The second tensor is (written words, T), 1 where a token is a piece of a word.
    """
    codes = direction.split("-")
    (source, spans), (target, written_spans) = (
        joined(side, code) for side, code in zip((pair.first, pair.second), codes, strict=True)
    )
    places = {
        (head["layer"], head["rows"]): f"decoder.{head['layer']}.cross.weights" for head in heads
    }
    select = (*ATTRIBUTED.values(), *dict.fromkeys(places.values()))
    [trace] = adapter.run([Request(source, direction, target, select=select)])
    columns = membership(trace.texts["source"], spans)
    written = membership(trace.output.tokens, written_spans)
    matrices: Matrices = {}
    for head in heads:
        rows = (
            written if head["rows"] == WRITES else membership(trace.texts["target"], written_spans)
        )
        weights = trace[places[head["layer"], head["rows"]]].value[head["head"]]
        matrices[head_name(head)] = words(weights, rows, columns)
    pieces = written.sum(dim=1, keepdim=True)  # a sum, where `words` takes the mean
    for method, name in ATTRIBUTED.items():
        matrices[method] = words(trace[name].value, written, columns) * pieces
    return matrices, written


def head_name(head: dict[str, Any]) -> str:
    """Return the name of a head and its rows, numbered from 1: "layer 3, head 1, writes"."""
    return f"layer {head['layer'] + 1}, head {head['head'] + 1}, {head['rows']}"


def _short(
    adapter: EncoderDecoder, pairs: Sequence[AlignedPair], direction: str
) -> list[AlignedPair]:
    """Return the pairs, source first, whose texts both have at most `LONGEST` tokens."""
    codes = direction.split("-")
    short = []
    for pair in fitting(adapter, pairs, direction):
        (source, _), (target, _) = (
            joined(side, code) for side, code in zip((pair.first, pair.second), codes, strict=True)
        )
        texts = adapter.texts_of(Request(source, direction, target))
        if max(map(len, texts.values())) <= LONGEST:
            short.append(pair)
    return short


def _rates(
    by: dict[str, list[dict[Link, float]]], forth: str, back: str, pairs: Sequence[AlignedPair]
) -> list[float]:
    forward = [kept(pair_links, -torch.inf) for pair_links in by[forth]]
    backward = [mirrored(kept(pair_links, -torch.inf)) for pair_links in by[back]]
    joined_links = [grown(*both_ways) for both_ways in zip(forward, backward, strict=True)]
    return [error_rate(links_, pairs) for links_ in (forward, backward, joined_links)]


def _mean(values: Sequence[float]) -> float:
    """Return the mean of the values that are numbers."""
    numbers = torch.tensor(values)
    return float(numbers.nanmean())
