"""Measures what every head of a model does over many sentences, and the loss without it.

A head's `mix` is replaced by zeros, or by its mean output over training data. The rise of the loss,
the cross-entropy of given translations in nats per target token, is the head's importance.

Sources: Michel et al. 2019, Are Sixteen Heads Really Better than One?, section 3; mean ablation as
in Wang et al. 2022, Interpretability in the Wild.
"""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.adapters.requests.request import Request
from model.adapters.requests.trace import Trace
from model.bundle.measurements import MEANS, REPORT, means_of
from model.bundle.weights import Bundle, load_bundle
from model.explain.patterns import MIXED, NONE, Axes, Tally, patterns, tally
from model.measure.word_alignment import alignment
from model.trace.attentions import CROSS, AttentionInfo, alike
from model.trace.tensor_tap import QUERY, SOURCE, TARGET, Tap
from model.train.data import Corpus, TextPair, TokenBatch, both_ways, read_pairs
from model.train.loss import dev_loss
from model.transformer.stacks import Transformer

BATCH_TOKENS = 4096  # tokens, including padding


def batches_of(bundle: Bundle, pairs: Sequence[TextPair], seed: int = 0) -> list[TokenBatch]:
    """Return the pairs in both directions, in batches in a seeded order, on the bundle's device."""
    first, second = bundle.languages
    examples = both_ways(pairs, (first, second))
    limit = bundle.model.config.max_tokens
    corpus = Corpus(examples, bundle.tokenizer, limit, bundle.device)
    return list(corpus.batches(BATCH_TOKENS, seed, 0))


MIX = "mix"


class Summing(Tap):
    """Sums every head's mix over the positions that are not padding.

    `real` marks these positions by side, (B, S) and (B, T); `sides` records the side of each sum.
    """

    def __init__(
        self,
        sums: dict[str, Tensor],
        real: Mapping[str, Tensor],
        sides: dict[str, str],
        place: str = "",
        side: str = "",
    ) -> None:
        self.sums = sums
        self.real = real
        self.sides = sides
        self.place = place
        self.side = side

    def at(self, place: str, **over: str) -> Tap:
        inner = f"{self.place}.{place}" if self.place else place
        return Summing(self.sums, self.real, self.sides, inner, over.get(QUERY, self.side))

    def __call__(self, name: str, value: Tensor, dims: tuple[str, ...]) -> Tensor:
        if name == MIX:
            real = self.real[self.side][:, None, :, None]  # (B, 1, N, 1)
            total = value.where(real, 0).double().sum(dim=(0, 2))  # (H, d_k)
            key = f"{self.place}.{name}"
            self.sides[key] = self.side
            self.sums[key] = self.sums[key] + total if key in self.sums else total
        return value


def means(model: Transformer, batches: Iterable[TokenBatch]) -> dict[str, Tensor]:
    """Return the mean mix (head, channel) of every attention by name, with teacher forcing.

    Encoder heads are averaged over source positions, decoder heads over target positions.
    """
    sums: dict[str, Tensor] = {}
    sides: dict[str, str] = {}
    counts = {SOURCE: 0, TARGET: 0}
    with torch.inference_mode():
        for batch in batches:
            real = {SOURCE: batch.source_real, TARGET: batch.target_real}
            tap = Summing(sums, real, sides)
            memory = model.encode(batch.source, batch.source_real, tap)
            model.decode(batch.read, batch.target_real, memory, batch.source_real, tap)
            for side, mask in real.items():
                counts[side] += int(mask.sum())
    return {name: (total / counts[sides[name]]).float().cpu() for name, total in sums.items()}


def write_means(folder: Path, train: Sequence[Path], count: int, seed: int = 0) -> Path:
    """Write `means.safetensors` into a bundle, over `count` seeded pairs; return its path."""
    bundle = load_bundle(folder)
    everything = [pair for path in train for pair in read_pairs(path)]
    drawn = random.Random(seed).sample(everything, min(count, len(everything)))
    measured = means(bundle.model, batches_of(bundle, drawn, seed))
    tensors = {name: value.contiguous() for name, value in measured.items()}
    save_file(tensors, folder / MEANS, metadata={"digest": bundle.digest})
    return folder / MEANS


class Instead(Tap):
    """Replaces one head's mix at one attention by `value` (d_k), at every position."""

    def __init__(self, attention: str, head: int, value: Tensor, place: str = "") -> None:
        self.attention = attention
        self.head = head
        self.value = value
        self.place = place

    def at(self, place: str, **over: str) -> Tap:
        inner = f"{self.place}.{place}" if self.place else place
        return Instead(self.attention, self.head, self.value, inner)

    def __call__(self, name: str, value: Tensor, dims: tuple[str, ...]) -> Tensor:
        if name != MIX or self.place != self.attention:
            return value
        value = value.clone()
        value[:, self.head] = self.value
        return value


def costs(
    model: Transformer, batches: Sequence[TokenBatch], instead: Mapping[str, Tensor]
) -> Iterator[tuple[str, int, float]]:
    """Yield attention, head, and the rise of the loss with `instead`, (H, d_k) by attention."""
    whole = dev_loss(model, batches)
    for attention, values in instead.items():
        for head, value in enumerate(values):
            tap = Instead(attention, head, value)
            yield attention, head, dev_loss(model, batches, tap=tap) - whole


BATCH = 32  # sentences

Head = tuple[str, int]  # "encoder.0.self", 3


def write_report(folder: Path, dev: Path, align: Path | None, count: int) -> None:
    """Measure a bundle's heads over `count` dev pairs, drawn with seed 0; write `report.json`.

    Raises `ValueError` if the bundle has no means.
    """
    bundle = load_bundle(folder)
    means = means_of(folder, bundle)
    if not means:
        raise ValueError(f"{folder} has no means; run measure mean-outputs first")
    adapter = EncoderDecoder(bundle, bundle.name)
    pairs = [
        pair
        for pair in read_pairs(dev)
        if all(map(adapter.takes, examples_as_requests([pair], bundle.languages)))
    ]
    drawn = random.Random(0).sample(pairs, min(count, len(pairs)))
    report = {
        "digest": bundle.digest,
        "pairs": len(drawn),
        **heads(adapter, bundle, drawn, means),
        "alignment": alignment(adapter, align, bundle.languages) if align else None,
    }
    text = json.dumps(report, indent=1, allow_nan=False) + "\n"
    (folder / REPORT).write_text(text, encoding="utf-8")


def heads(
    adapter: EncoderDecoder, bundle: Bundle, pairs: Sequence[TextPair], means: Mapping[str, Tensor]
) -> dict[str, Any]:
    """Measure every head over the pairs in both directions, with the translation given."""
    batches = batches_of(bundle, pairs)
    requests = examples_as_requests(pairs, bundle.languages)
    tallies, doubles, usual_names = watched(adapter, requests)
    silent = {a: torch.zeros_like(means[f"{a}.mix"]) for a in adapter.info.places}
    usual = {attention: means[f"{attention}.mix"] for attention in adapter.info.places}
    zero = {(a, h): cost for a, h, cost in costs(adapter.model, batches, silent)}
    mean = {(a, h): cost for a, h, cost in costs(adapter.model, batches, usual)}
    rows = []
    for attention in adapter.info.places:
        measures, names = tallies[attention].means, patterns(tallies[attention])
        for head, pattern in enumerate(names):
            double, divergence = doubles[attention, head]
            rows.append(
                {
                    "attention": attention,
                    "head": head,
                    "pattern": pattern,
                    "usual": [*usual_names[attention, head]],
                    "entropy": _number(measures["entropy"][head]),
                    "distance": _number(measures["distance"][head])
                    if "distance" in measures
                    else None,
                    "special": _number(measures["special"][head]),
                    "double": [*double],
                    "divergence": divergence,
                    "zero": zero[attention, head],
                    "mean": mean[attention, head],
                }
            )
    return {"loss": dev_loss(adapter.model, batches), "heads": rows}


def examples_as_requests(pairs: Sequence[TextPair], languages: Sequence[str]) -> list[Request]:
    """Return requests in both directions, with all weights and masks."""
    first, second = languages
    return [
        Request(*texts, select=("*.weights", "*.mask"))
        for a, b in pairs
        for texts in ((a, f"{first}-{second}", b), (b, f"{second}-{first}", a))
    ]


def watched(
    adapter: EncoderDecoder, requests: Sequence[Request]
) -> tuple[dict[str, Tally], dict[Head, tuple[Head, float]], dict[Head, tuple[str, float]]]:
    """Return each attention's tally, and each head's most similar head and usual name.

    The most similar head comes with its distance, the name with the share of sentences in which the
    head has it; "mixed" does not count, so the share is 0 if it has no other name.
    """
    tallies: dict[str, Tally] = {}
    names: dict[Head, Counter[str]] = {}
    apart: dict[str, Tensor] = {}  # kind: (heads, heads), nats summed over sentences
    for start in range(0, len(requests), BATCH):
        for trace in adapter.run(requests[start : start + BATCH]):
            for attention in adapter.info.attentions:
                tallied = _tally(trace, attention)
                place = attention.place
                tallies[place] = tallies[place] + tallied if place in tallies else tallied
                for head, name in enumerate(patterns(tallied)):
                    names.setdefault((place, head), Counter())[name] += name not in (MIXED, NONE)
            for kind, layers in alike(adapter.info.attentions).items():
                weights = torch.cat([trace[f"{layer.place}.weights"].value for layer in layers])
                between = divergences(weights)
                apart[kind] = apart[kind] + between if kind in apart else between
    doubles: dict[Head, tuple[Head, float]] = {}
    for kind, layers in alike(adapter.info.attentions).items():
        mean = apart[kind] / len(requests)
        mean.fill_diagonal_(math.inf)
        count = layers[0].heads
        for row, (least, nearest) in enumerate(
            zip(*(x.tolist() for x in mean.min(1)), strict=True)
        ):
            head_, double_ = (divmod(index, count) for index in (row, nearest))
            double = layers[double_[0]].place, double_[1]
            doubles[layers[head_[0]].place, head_[1]] = double, least
    usual_names = {head: counted.most_common(1)[0] for head, counted in names.items()}
    usual = {head: (name, count / len(requests)) for head, (name, count) in usual_names.items()}
    return tallies, doubles, usual


def _tally(trace: Trace, attention: AttentionInfo) -> Tally:
    weights, mask = trace[f"{attention.place}.weights"], trace[f"{attention.place}.mask"]
    cross = attention.kind == CROSS
    queries = trace.output.tokens if cross else trace.texts[attention.query]
    axes = Axes(queries, trace.texts[attention.key], cross)
    return tally(weights.value, axes, mask.value)


def divergences(weights: Tensor) -> Tensor:
    """Return the Jensen–Shannon divergences (H, H) between the heads of weights (H, N, M).

    The mean over rows, in nats. Source: Clark et al. 2019, What Does BERT Look At?, section 6.
    """
    entropy = torch.special.entr(weights).sum(-1)  # (H, N)
    # One head at a time: all pairs of a large model's heads need too much memory.
    mixed = torch.stack([torch.special.entr((head + weights) / 2).sum(-1) for head in weights])
    apart: Tensor = mixed - (entropy[:, None] + entropy[None]) / 2  # (H, H, N)
    return apart.clamp(min=0).mean(-1)


def _number(value: Tensor) -> float | None:
    number = float(value)
    return None if math.isnan(number) else number
