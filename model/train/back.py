r"""Back-translation: what people wrote in a train set, with sources that a model makes up for it.

    python -m model.train.back runs/mine/bundle --train pairs.tsv --out back.tsv

Each distinct sentence of either language is translated into the other one. A row of the file is
`language<TAB>first<TAB>second`: the language that people wrote, then both texts. `--back back.tsv`
then trains the direction into that language on it: what a model is taught to write is never a
model's own (Sennrich, Haddow & Birch 2016, section 3, arXiv:1511.06709). There the sentences had no
translation; here they have one, and get another beside it (Nguyen et al. 2020, Data
Diversification, arXiv:1911.01986).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import torch

from model.adapters.native import load
from model.adapters.request import Decode
from model.text.tokens import normalise
from model.train.metrics import translate
from model.train.pairs import TextPair, read_pairs

CHUNK = 1000  # sentences that a worker takes at a time


def main(arguments: Sequence[str] | None = None) -> None:
    """Translates both sides of the pairs and writes the rows, without those that are a pair."""
    parser = argparse.ArgumentParser(
        prog="python -m model.train.back",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("bundle", type=Path, help="what translates")
    parser.add_argument("--train", type=Path, nargs="+", required=True, help="TSV files")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--method", choices=["greedy", "beam", "sample"], default="greedy")
    parser.add_argument("--jobs", type=int, default=1, help="at a time, on a thread each (1)")
    asked = parser.parse_args(arguments)
    pairs = [pair for path in asked.train for pair in read_pairs(path)]
    # Under its name lies all or nothing: half a file would be trained on and not be missed.
    partial = asked.out.with_name(f"{asked.out.name}.partial")
    with partial.open("w", encoding="utf-8") as out:
        for row in made(asked.bundle, pairs, Decode(asked.method), asked.jobs):
            print(*row, sep="\t", file=out)
    partial.replace(asked.out)


def made(
    bundle: Path, pairs: Sequence[TextPair], decode: Decode, jobs: int = 1
) -> Iterator[tuple[str, str, str]]:
    """Rows (language that people wrote, first text, second text), one language after the other.

    A translation that makes a pair which is there already is left out, and an empty one.
    """
    languages = load(bundle.resolve(), "cpu", measured=False).info.languages
    there = set(pairs)
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        for side, language in enumerate(languages):
            texts = [*dict.fromkeys(pair[side] for pair in pairs)]
            chunks = [texts[begin : begin + CHUNK] for begin in range(0, len(texts), CHUNK)]
            direction = f"{language}-{languages[1 - side]}"
            work = [(bundle, chunk, direction, decode) for chunk in chunks]
            for chunk, written in zip(chunks, pool.map(_translated, work), strict=True):
                for text, other in zip(chunk, map(normalise, written), strict=True):
                    pair = (other, text) if side else (text, other)
                    if other and pair not in there:
                        yield language, *pair


def _translated(work: tuple[Path, list[str], str, Decode]) -> list[str]:
    bundle, texts, direction, decode = work
    torch.set_num_threads(1)
    adapter = load(bundle.resolve(), "cpu", measured=False)
    return translate(adapter, texts, direction, decode)


if __name__ == "__main__":
    main()
