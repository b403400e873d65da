"""Back-translation: what people wrote in a train set, with sources that a model makes up for it.

What a model is taught to write is never a model's own (Sennrich, Haddow & Birch 2016, section 3,
arXiv:1511.06709). There the sentences had no translation; here they have one, and get another
beside it (Nguyen et al. 2020, Data Diversification, arXiv:1911.01986).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from model.adapters.encoder_decoder import load
from model.adapters.request import Decode
from model.text.tokens import normalise
from model.train.metrics import translate
from model.train.pairs import TextPair, read_pairs
from model.train.workers import spread

CHUNK = 1000  # sentences that a worker takes at a time


def write_back_translations(
    bundle: Path, train: Sequence[Path], out: Path, decode: Decode, jobs: int = 1
) -> None:
    """Translates both sides of the pairs and writes the rows, all of them or no file."""
    pairs = [pair for path in train for pair in read_pairs(path)]
    # Half a file would be trained on and not be missed.
    partial = out.with_name(f"{out.name}.partial")
    with partial.open("w", encoding="utf-8") as file:
        for row in back_translations(bundle, pairs, decode, jobs):
            print(*row, sep="\t", file=file)
    partial.replace(out)


def back_translations(
    bundle: Path, pairs: Sequence[TextPair], decode: Decode, jobs: int = 1
) -> Iterator[tuple[str, str, str]]:
    """Rows (language that people wrote, first text, second text), one language after the other.

    A translation that makes a pair which is there already is left out, and an empty one.
    """
    languages = load(bundle.resolve(), "cpu", measured=False).info.languages
    there = set(pairs)
    for side, language in enumerate(languages):
        texts = [*dict.fromkeys(pair[side] for pair in pairs)]
        chunks = [texts[begin : begin + CHUNK] for begin in range(0, len(texts), CHUNK)]
        direction = f"{language}-{languages[1 - side]}"
        work = [(bundle, chunk, direction, decode) for chunk in chunks]
        for chunk, written in zip(chunks, spread(_translated, work, jobs), strict=True):
            for text, other in zip(chunk, map(normalise, written), strict=True):
                pair = (other, text) if side else (text, other)
                if other and pair not in there:
                    yield language, *pair


def _translated(bundle: Path, texts: Sequence[str], direction: str, decode: Decode) -> list[str]:
    adapter = load(bundle.resolve(), "cpu", measured=False)
    return translate(adapter, texts, direction, decode)
