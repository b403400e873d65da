"""A language that is learned quickly: numbers, translated word for word."""

import random
from collections.abc import Sequence
from pathlib import Path

from model.__main__ import main

WORDS = {"one": "一", "two": "二", "three": "三", "four": "四", "five": "五", "six": "六"}


def words(line: str) -> list[str]:
    return line.split()


SHAPE = words("--d-model 32 --heads 2 --d-ff 64 --encoder-layers 1 --decoder-layers 1 --dropout 0")

# Options of the run `counted`. With a guide it learns faster, and its heads align.
COUNTING = words(
    "--raw --epochs 24 --batch 1500 --warmup 40 --every 50 --average 2 --augment 0"
    " --guide 1 --guide-from 3"
)


def train(line: Sequence[str]) -> Path:
    """Run `python -m model train`; return the folder of its bundle."""
    main(["train", *line])
    return Path(line[0]) / "bundle"


def write_pairs(folder: Path) -> list[str]:
    """Write train.tsv and dev.tsv if missing; return the options for them.

    No dev sentence is in train.
    """
    options = ["--train", str(folder / "train.tsv"), "--dev", str(folder / "dev.tsv")]
    if (folder / "dev.tsv").is_file():
        return options
    chance = random.Random(0)
    texts = [chance.choices(list(WORDS), k=chance.randint(1, 4)) for _ in range(700)]
    dev = [words for words in texts[600:] if words not in texts[:600]]
    assert len(dev) > 20
    for name, part in (("train", texts[:600]), ("dev", dev)):
        rows = (f"{' '.join(words)}\t{''.join(WORDS[word] for word in words)}\n" for words in part)
        (folder / f"{name}.tsv").write_text("".join(rows), encoding="utf-8")
    return options
