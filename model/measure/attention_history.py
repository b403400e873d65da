"""Records how a model learned: its attention on a few sentences, at steps of the training run."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.adapters.requests.request import Decode, Request
from model.bundle.measurements import (
    LEARNING,
    Learning,
    SnapshotScores,
    WatchedSentence,
    load_learning,
    save,
)
from model.bundle.weights import Bundle, load_bundle
from model.measure.heads import batches_of
from model.train.data import TokenBatch, read_pairs
from model.train.loss import dev_loss
from model.train.metrics import TestSet, read_test_sets, score, translate

EXAMPLES = "examples.txt"
LONGEST = 40  # tokens; an untrained model does not stop by itself


def fixed(bundle: Bundle, sentences: Sequence[str]) -> list[Request]:
    """Return the sentences with the bundle's own translations as targets."""
    requests = [Request(text) for text in sentences]
    traces = EncoderDecoder(bundle, bundle.name).run(requests)
    return [
        replace(request, direction=trace.direction, target=trace.output.text)
        for request, trace in zip(requests, traces, strict=True)
    ]


def _target(example: WatchedSentence) -> str:
    return "".join(token.text for token in example.written if not token.special)


def watch(
    bundle: Bundle,
    weights: Mapping[int, Mapping[str, Tensor]],
    requests: Sequence[Request],
    tests: Sequence[TestSet],
    batches: Sequence[TokenBatch],
) -> Learning:
    """Run the requests with the `weights` of each step instead of the bundle's own."""
    traces = EncoderDecoder(bundle, bundle.name).run(requests)
    final = {name: value.clone() for name, value in bundle.model.state_dict().items()}
    weights_kept: dict[str, Tensor] = {}
    snapshots, texts = [], []
    for step in sorted(weights):
        bundle.model.load_state_dict(dict(weights[step]))
        adapter = EncoderDecoder(bundle, bundle.name)  # a new one: an adapter caches its results
        short = Decode(max_tokens=LONGEST)
        bleu = {
            test.direction: float(
                score(test, translate(adapter, test.sources, test.direction, short))["bleu"]
            )
            for test in tests
        }
        loss = dev_loss(bundle.model, batches)
        snapshots.append(SnapshotScores(step, loss, bleu))
        free = adapter.run([Request(r.source, r.direction, decode=short) for r in requests])
        texts.append([trace.output.text for trace in free])
        for index, trace in enumerate(adapter.run(requests)):
            for name, tensor in trace.tensors.items():
                weights_kept[f"{index}.{step}.{name}"] = (
                    (tensor.value * 255).round().to(torch.uint8)
                )
        print(snapshots[-1], texts[-1], file=sys.stderr, flush=True)
    bundle.model.load_state_dict(final)
    examples = [
        WatchedSentence(
            trace.request.source,
            str(trace.request.direction),
            {text: [*tokens] for text, tokens in trace.texts.items()},
            trace.output.tokens,
            [written[index] for written in texts],
        )
        for index, trace in enumerate(traces)
    ]
    return Learning(bundle.digest, snapshots, examples, weights_kept)


def joined(earlier: Learning, later: Learning) -> Learning:
    """Join two parts of a history.

    Raises `ValueError` if they have different sentences or targets.
    """
    if [e.tokens for e in earlier.examples] != [e.tokens for e in later.examples]:
        raise ValueError("the existing history has different sentences or targets")
    return Learning(
        later.digest,
        [*earlier.snapshots, *later.snapshots],
        [
            replace(new, texts=[*old.texts, *new.texts])
            for old, new in zip(earlier.examples, later.examples, strict=True)
        ],
        {**earlier.weights, **later.weights},
    )


def write_history(
    folder: Path, snapshots: Sequence[Path], final: int, dev: Path, sources: int, extend: bool
) -> None:
    """Write `learning.safetensors` into a bundle that is at step `final`.

    The name of a snapshot's file is its step. BLEU is measured on `sources` sentences per
    direction.

    Raises `ValueError` if the steps to add are not later than those of the existing history, or if
    it has different sentences.
    """
    bundle = load_bundle(folder)
    weights: dict[int, Mapping[str, Tensor]] = {int(p.stem): load_file(p) for p in snapshots}
    weights[final] = {n: v.clone() for n, v in bundle.model.state_dict().items()}
    first, second = bundle.languages
    tests = [
        TestSet(t.direction, t.sources[:sources], t.references[:sources])
        for t in read_test_sets(dev, (first, second))
    ]
    batches = batches_of(bundle, read_pairs(dev))
    path = folder / LEARNING
    if extend:
        earlier = load_learning(path)
        steps = [*(snapshot.step for snapshot in earlier.snapshots), *sorted(weights)]
        if steps != sorted(set(steps)):
            raise ValueError(f"steps must increase, not {', '.join(map(str, steps))}")
        requests = [Request(e.source, e.direction, target=_target(e)) for e in earlier.examples]
        save(joined(earlier, watch(bundle, weights, requests, tests, batches)), path)
    else:
        sentences = (folder / EXAMPLES).read_text(encoding="utf-8").splitlines()
        save(watch(bundle, weights, fixed(bundle, sentences), tests, batches), path)
