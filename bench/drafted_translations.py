"""`python -m bench.drafted_translations FILE…`: drafted and decoded translations, by sentence.

Files are parallel text in the format for training (`docs/training.md`). Both columns are
translated, each into the other's language. The table shows how many translations and numbers
differ, how often a draft was right, how close a verifying pass is to decoding steps, and the times.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch

from bench.__main__ import machine
from model.adapters.encoder_decoder.drafts import Drafter, Drafts, IdSequence, open_drafter
from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.adapters.requests.request import Request
from model.adapters.requests.trace import Trace
from model.bundle.weights import CHECKPOINTS, Bundle, load_bundle
from model.train.data import read_pairs


@dataclass
class Counting(Drafter):
    """Counts the drafts of another drafter."""

    drafter: Drafter
    rows: int = 0

    def draft(
        self, sources: Sequence[IdSequence], begun: Sequence[IdSequence], limit: int
    ) -> Drafts:
        """Draft as the other drafter does."""
        self.rows += len(sources)
        return self.drafter.draft(sources, begun, limit)


@dataclass
class Found:
    """Results for some sentences."""

    sentences: int = 0
    different: int = 0  # number of different translations
    worst: float = 0.0  # largest difference of a log-probability, in nats
    decoding: list[float] = field(default_factory=list)  # processor seconds of each batch
    drafting: list[float] = field(default_factory=list)

    def add(self, decoded: Sequence[Trace], drafted: Sequence[Trace]) -> None:
        """Compare the replies to the same requests."""
        for plain_text, drafted_text in zip(decoded, drafted, strict=True):
            self.sentences += 1
            if plain_text.output.tokens != drafted_text.output.tokens:
                self.different += 1
                continue
            pairs = zip(plain_text.output.logprobs, drafted_text.output.logprobs, strict=True)
            self.worst = max([self.worst, *(abs(a - b) for a, b in pairs)])


def main() -> None:
    """Measure for each batch size and print a row of a Markdown table."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.drafted_translations", description=__doc__
    )
    parser.add_argument("files", type=Path, nargs="+", help="TSV files, .gz or not")
    parser.add_argument("--sentences", type=int, default=1000, help="per batch size (1000)")
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--threads", type=int, default=1, help="threads of PyTorch (1)")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    pairs = [pair for path in options.files for pair in read_pairs(path)]
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))  # each once
    random.Random(0).shuffle(texts)
    bundle = load_bundle(CHECKPOINTS / "en-zh")
    print(machine())
    print(
        "\n| at once | sentences | different | worst number | drafts a sentence "
        "| decoded | drafted | decoded / drafted |\n|--:|--:|--:|--:|--:|--:|--:|--:|"
    )
    with tempfile.TemporaryDirectory() as cache:
        for rows in options.batches:
            samples, texts = texts[: options.sentences], texts[options.sentences :]
            print(_row(bundle, Path(cache), samples, rows), flush=True)
        print(f"\nA pass and a step differ by at most {_steps(bundle, texts[:200]):.1e} nats.")


def _row(bundle: Bundle, cache: Path, texts: Sequence[str], rows: int) -> str:
    opened = open_drafter(bundle, cache)
    assert opened, "CTranslate2 is not installed"
    counting = Counting(opened)
    plain, drafted = (
        EncoderDecoder(bundle, "own"),
        EncoderDecoder(bundle, "drafted", None, counting),
    )
    counts = Found()
    requests = [Request(text) for text in texts if plain.takes(Request(text))]
    for model in (plain, drafted):
        model.run([Request("This is to warm up.")] * rows)
    counting.rows = 0
    pairs = [(plain, counts.decoding), (drafted, counts.drafting)]
    for number, start in enumerate(range(0, len(requests), rows)):
        turns = pairs[:: (1, -1)[number % 2]]  # alternate which is first
        batch = requests[start : start + rows]
        answers = [_timed(model, batch, times) for model, times in turns]
        counts.add(*answers)
    decoding, drafting = (
        1e3 * sum(times) / counts.sentences for times in (counts.decoding, counts.drafting)
    )
    return (
        f"| {rows} | {counts.sentences:,} | {counts.different} | {counts.worst:.1e} "
        f"| {counting.rows / counts.sentences:.2f} | {decoding:.1f} ms | {drafting:.1f} ms "
        f"| **{decoding / drafting:.2f}** |"
    )


def _timed(model: EncoderDecoder, batch: Sequence[Request], times: list[float]) -> list[Trace]:
    start = time.process_time()
    traces = model.run(batch)
    times.append(time.process_time() - start)
    return traces


def _steps(bundle: Bundle, texts: Sequence[str]) -> float:
    """Return the largest difference between a step's and a pass's log-probability of a token."""
    model, worst = EncoderDecoder(bundle, "own"), 0.0
    for text in texts:
        *_, last = model.decode(text).steps
        pairs = zip(last.written[0].logprobs, model.trace(text).output.logprobs, strict=True)
        worst = max([worst, *(abs(a - b) for a, b in pairs)])
    return worst


if __name__ == "__main__":
    main()
