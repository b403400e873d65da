"""The sentence pairs that were written for this project."""

import re
from collections import Counter
from pathlib import Path

import model.train
from model.measure.gate import GATE

FOLDER = Path(model.train.__file__).parent / "written"
CHINESE = re.compile(r"[\u3400-\u9fff]")


def plain(sentence: str) -> str:
    """Return a sentence without case, spaces and punctuation, by which near-copies are equal."""
    return re.sub(r"[\W_]", "", sentence.lower())


def test_every_line_is_a_pair_of_its_own_in_both_languages() -> None:
    lines = [line for path in FOLDER.glob("*.tsv") for line in path.read_text().splitlines()]
    pairs = [line.split("\t") for line in lines]
    assert len(pairs) > 1_000
    assert {len(pair) for pair in pairs} == {2}
    for english, chinese in pairs:
        assert english == english.strip()
        assert chinese == chinese.strip()
        assert not CHINESE.search(english), english
        characters = len(CHINESE.findall(chinese))
        assert 0.6 < characters / len(english.split()) < 4, (english, chinese)
    for side in zip(*pairs, strict=True):
        [(sentence, times)] = Counter(map(plain, side)).most_common(1)
        assert times == 1, sentence


def test_no_sentence_is_of_the_gate() -> None:
    gate = {plain(line.split("\t")[1]) for line in GATE.read_text().splitlines() if "\t" in line}
    assert len(gate) > 100
    for path in FOLDER.glob("*.tsv"):
        for line in path.read_text().splitlines():
            assert gate.isdisjoint(map(plain, line.split("\t"))), line


def test_the_readme_counts_the_pairs() -> None:
    counts = {
        name: int(number.replace(",", ""))
        for name, number in re.findall(
            r"^\| `(.*?)` \| ([\d,]+) \|", (FOLDER / "README.md").read_text(), re.MULTILINE
        )
    }
    assert counts == {
        path.name: len(path.read_text().splitlines()) for path in FOLDER.glob("*.tsv")
    }
