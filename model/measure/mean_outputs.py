"""Each head's mean output over training data: what `mean` puts in the place of a head.

    python -m model.measure.mean_outputs model/checkpoints/en-zh --data pairs.tsv

writes `means.safetensors` into the bundle: a tensor ``encoder.1.self.mix`` (head, channel) for each
attention, and in its metadata the digest of the weights that it is of. A head that is silent is
something that no later layer has met; a head that says what it says on average is nearer to that.

Source: mean ablation as in Wang et al. 2022, Interpretability in the Wild.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from model.bundle.measured import MEANS
from model.bundle.weights import Bundle, load_bundle
from model.trace.tap import QUERY, SOURCE, TARGET, Tap
from model.train.data import Corpus, TokenBatch
from model.train.pairs import both_ways, read_pairs
from model.transformer.stacks import Transformer

MIX = "mix"
BATCH = 4096  # tokens, padding included


class Summing(Tap):
    """Adds up every head's mix over the positions that are no padding.

    `real` says by side which those are: (B, S) and (B, T).
    """

    def __init__(
        self, sums: dict[str, Tensor], real: Mapping[str, Tensor], place: str = ""
    ) -> None:
        self.sums = sums
        self.real = real
        self.place = place
        self.side = SOURCE

    def at(self, place: str, **over: str) -> Tap:
        inner = Summing(self.sums, self.real, f"{self.place}.{place}" if self.place else place)
        inner.side = over.get(QUERY, self.side)
        return inner

    def __call__(self, name: str, value: Tensor, dims: tuple[str, ...]) -> Tensor:
        if name == MIX:
            real = self.real[self.side][:, None, :, None]  # (B, 1, N, 1)
            total = value.where(real, 0).double().sum(dim=(0, 2))  # (H, d_k)
            key = f"{self.place}.{name}"
            self.sums[key] = self.sums[key] + total if key in self.sums else total
        return value


def means(model: Transformer, batches: Iterable[TokenBatch]) -> dict[str, Tensor]:
    """The mean mix (head, channel) of every attention, teacher-forced, by name.

    A position of the source counts once for each encoder head, one of the target once for each
    decoder head.
    """
    sums: dict[str, Tensor] = {}
    counts = {SOURCE: 0, TARGET: 0}
    with torch.inference_mode():
        for batch in batches:
            real = {SOURCE: batch.source_real, TARGET: batch.target_real}
            tap = Summing(sums, real)
            memory = model.encode(batch.source, batch.source_real, tap)
            model.decode(batch.read, batch.target_real, memory, batch.source_real, tap)
            for side, where in real.items():
                counts[side] += int(where.sum())
    return {
        name: (total / counts[SOURCE if name.startswith("encoder") else TARGET]).float().cpu()
        for name, total in sums.items()
    }


def sampled(bundle: Bundle, paths: Sequence[Path], pairs: int, seed: int) -> Iterable[TokenBatch]:
    """Batches of so many pairs of the files, each in both directions."""
    everything = [pair for path in paths for pair in read_pairs(path)]
    chosen = random.Random(seed).sample(everything, min(pairs, len(everything)))
    first, second = bundle.languages
    device = bundle.model.embedding.weight.device
    limit = bundle.model.config.max_tokens
    corpus = Corpus(both_ways(chosen, (first, second)), bundle.tokenizer, limit, device)
    return corpus.batches(BATCH, seed, 0)


def write(folder: Path, found: Mapping[str, Tensor], digest: str) -> None:
    """Writes the means of the weights with this digest into the bundle."""
    tensors = {name: value.contiguous() for name, value in found.items()}
    save_file(tensors, folder / MEANS, metadata={"digest": digest})


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures and writes."""
    parser = argparse.ArgumentParser(
        prog="python -m model.measure.mean_outputs",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="TSV files, .gz or not")
    parser.add_argument("--pairs", type=int, default=2000, help="drawn from the files (2000)")
    parser.add_argument("--seed", type=int, default=0, help="of the drawing (0)")
    asked = parser.parse_args(arguments)
    bundle = load_bundle(asked.bundle)
    found = means(bundle.model, sampled(bundle, asked.data, asked.pairs, asked.seed))
    write(asked.bundle, found, bundle.digest)
    print(f"wrote {asked.bundle / MEANS}", file=sys.stderr)


if __name__ == "__main__":
    main()
