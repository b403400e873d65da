"""How a model was learned: its attention over a few sentences, at steps along the training run.

    python -m model.learning --snapshots runs/mine/snapshots/* --final 9000 --dev dev.tsv

writes `learning.safetensors` into the bundle (`model.learned`): for each sentence of its
`examples.txt` and each snapshot the weights of every attention. Every snapshot reads the same
target, the one that the trained model writes: so the maps are over the same tokens, and what the
snapshot itself would have written stands beside them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor

from model.adapters import Native
from model.checkpoint import CHECKPOINTS, Bundle, load_bundle
from model.learned import Example, Learning, Snapshot, save
from model.measured import LEARNING
from model.request import Decode, Request
from model.tokens import direction_of
from model.train.data import Corpus
from model.train.loss import dev_loss
from model.train.metrics import TestSet, read_test_sets, score, translate
from model.train.pairs import both_ways, read_pairs

EXAMPLES = "examples.txt"
BATCH = 4096  # tokens, padding included
LONGEST = 40  # an untrained model does not know when to stop


def watch(
    bundle: Bundle,
    weights: Mapping[int, Mapping[str, Tensor]],
    sentences: Sequence[str],
    tests: Sequence[TestSet],
    corpus: Corpus,
) -> Learning:
    """Runs the sentences through the bundle with the `weights` of each step in place of its own."""
    trained = Native(bundle, bundle.name)
    requests = [Request(text, direction_of(text)) for text in sentences]
    targets = [trace.output for trace in trained.run(requests)]
    fixed = [
        Request(request.source, request.direction, target=output.text)
        for request, output in zip(requests, targets, strict=True)
    ]
    traces = trained.run(fixed)
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
        free = adapter.run([Request(r.source, r.direction, decode=short) for r in fixed])
        texts.append([trace.output.text for trace in free])
        for index, trace in enumerate(adapter.run(fixed)):
            for name, tensor in trace.tensors.items():
                kept[f"{index}.{step}.{name}"] = (tensor.value * 255).round().to(torch.uint8)
        print(snapshots[-1], texts[-1], file=sys.stderr, flush=True)
    bundle.model.load_state_dict(final)
    examples = [
        Example(
            trace.request.source,
            str(trace.request.direction),
            {"source": trace.source, "target": trace.target},
            trace.output.tokens,
            [written[index] for written in texts],
        )
        for index, trace in enumerate(traces)
    ]
    return Learning(bundle.digest, snapshots, examples, kept)


def main(arguments: Sequence[str] | None = None) -> None:
    """Reads the snapshots, by the step in their names; the bundle itself is the last one."""
    parser = argparse.ArgumentParser(
        prog="python -m model.learning",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("bundle", type=Path, nargs="?", default=CHECKPOINTS / "en-zh")
    parser.add_argument(
        "--snapshots", type=Path, nargs="+", required=True, help="…/000400.safetensors"
    )
    parser.add_argument("--final", type=int, required=True, help="the step that the bundle is at")
    parser.add_argument("--dev", type=Path, required=True, help="TSV file to measure on")
    parser.add_argument("--sources", type=int, default=200, help="so many a direction (200)")
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
    sentences = (asked.bundle / EXAMPLES).read_text(encoding="utf-8").splitlines()
    save(watch(bundle, weights, sentences, tests, corpus), asked.bundle / LEARNING)


if __name__ == "__main__":
    main()
