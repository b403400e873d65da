"""How a model was learned: its attention over a few sentences, at steps along the training run.

    python -m model.measure.snapshots --snapshots runs/mine/snapshots/* --final 9000 --dev dev.tsv

writes `learning.safetensors` into the bundle (`model.bundle.history`): for each sentence of its
`examples.txt` and each snapshot the weights of every attention. Every snapshot reads the same
target, the one that the trained model writes: so the maps are over the same tokens, and what the
snapshot itself would have written stands beside them. With `--extend` what is there of a run that
went on stays, its sentences and targets too, and what came of it since is added.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor

from model.adapters.native import Native
from model.adapters.request import Decode, Request
from model.bundle.history import Learning, Snapshot, WatchedSentence, load_learning, save
from model.bundle.measured import LEARNING
from model.bundle.weights import CHECKPOINTS, Bundle, load_bundle
from model.text.tokens import direction_of
from model.train.data import Corpus
from model.train.loss import dev_loss
from model.train.metrics import TestSet, read_test_sets, score, translate
from model.train.pairs import both_ways, read_pairs

EXAMPLES = "examples.txt"
BATCH = 4096  # tokens, padding included
LONGEST = 40  # an untrained model does not know when to stop


def fixed(bundle: Bundle, sentences: Sequence[str]) -> list[Request]:
    """The sentences, and what the bundle writes of them as their targets."""
    requests = [Request(text, direction_of(text)) for text in sentences]
    traces = Native(bundle, bundle.name).run(requests)
    return [
        replace(request, target=trace.output.text)
        for request, trace in zip(requests, traces, strict=True)
    ]


def _target(example: WatchedSentence) -> str:
    return "".join(token.text for token in example.written if not token.special)


def watch(
    bundle: Bundle,
    weights: Mapping[int, Mapping[str, Tensor]],
    requests: Sequence[Request],
    tests: Sequence[TestSet],
    corpus: Corpus,
) -> Learning:
    """Reads the requests with the `weights` of each step in place of the bundle's own."""
    traces = Native(bundle, bundle.name).run(requests)
    final = {name: value.clone() for name, value in bundle.model.state_dict().items()}
    batches = list(corpus.batches(BATCH, 0, 0))
    kept: dict[str, Tensor] = {}
    snapshots, texts = [], []
    for step in sorted(weights):
        bundle.model.load_state_dict(dict(weights[step]))
        adapter = Native(bundle, bundle.name)  # a new one: an adapter remembers its answers
        short = Decode(max_tokens=LONGEST)
        bleu = {
            test.direction: float(
                score(test, translate(adapter, test.sources, test.direction, short))["bleu"]
            )
            for test in tests
        }
        loss = dev_loss(bundle.model, batches)
        snapshots.append(Snapshot(step, loss, bleu))
        free = adapter.run([Request(r.source, r.direction, decode=short) for r in requests])
        texts.append([trace.output.text for trace in free])
        for index, trace in enumerate(adapter.run(requests)):
            for name, tensor in trace.tensors.items():
                kept[f"{index}.{step}.{name}"] = (tensor.value * 255).round().to(torch.uint8)
        print(snapshots[-1], texts[-1], file=sys.stderr, flush=True)
    bundle.model.load_state_dict(final)
    examples = [
        WatchedSentence(
            trace.request.source,
            str(trace.request.direction),
            {"source": [*trace.source], "target": [*trace.target]},
            trace.output.tokens,
            [written[index] for written in texts],
        )
        for index, trace in enumerate(traces)
    ]
    return Learning(bundle.digest, snapshots, examples, kept)


def joined(earlier: Learning, later: Learning) -> Learning:
    """A run looked back on in two goes.

    Raises `ValueError` where they are over other sentences or targets.
    """
    if [e.tokens for e in earlier.examples] != [e.tokens for e in later.examples]:
        raise ValueError("what is there is of other sentences or targets")
    return Learning(
        later.digest,
        [*earlier.snapshots, *later.snapshots],
        [
            replace(new, texts=[*old.texts, *new.texts])
            for old, new in zip(earlier.examples, later.examples, strict=True)
        ],
        {**earlier.weights, **later.weights},
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Reads the snapshots, by the step in their names; the bundle itself is the last one."""
    parser = argparse.ArgumentParser(
        prog="python -m model.measure.snapshots",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("bundle", type=Path, nargs="?", default=CHECKPOINTS / "en-zh")
    parser.add_argument(
        "--snapshots", type=Path, nargs="*", default=[], help="…/000400.safetensors"
    )
    parser.add_argument("--final", type=int, required=True, help="the step that the bundle is at")
    parser.add_argument("--dev", type=Path, required=True, help="TSV file to measure on")
    parser.add_argument("--sources", type=int, default=200, help="so many a direction (200)")
    parser.add_argument("--extend", action="store_true", help="add to what is there")
    asked = parser.parse_args(arguments)
    bundle = load_bundle(asked.bundle)
    weights: dict[int, Mapping[str, Tensor]] = {
        int(path.stem): load_file(path) for path in asked.snapshots
    }
    weights[asked.final] = {n: v.clone() for n, v in bundle.model.state_dict().items()}
    first, second = bundle.languages
    tests = [
        TestSet(t.direction, t.sources[: asked.sources], t.references[: asked.sources])
        for t in read_test_sets(asked.dev, (first, second))
    ]
    corpus = Corpus(
        both_ways(read_pairs(asked.dev), (first, second)),
        bundle.tokenizer,
        bundle.model.config.max_tokens,
        torch.device("cpu"),
    )
    path = asked.bundle / LEARNING
    if asked.extend:
        earlier = load_learning(path)
        steps = [*(snapshot.step for snapshot in earlier.snapshots), *sorted(weights)]
        if steps != sorted(set(steps)):
            raise ValueError(f"steps must rise, not {', '.join(map(str, steps))}")
        requests = [Request(e.source, e.direction, target=_target(e)) for e in earlier.examples]
        save(joined(earlier, watch(bundle, weights, requests, tests, corpus)), path)
    else:
        sentences = (asked.bundle / EXAMPLES).read_text(encoding="utf-8").splitlines()
        save(watch(bundle, weights, fixed(bundle, sentences), tests, corpus), path)


if __name__ == "__main__":
    main()
