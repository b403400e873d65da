"""The sentence pairs that were written for this project."""

import re
from collections import Counter
from pathlib import Path

import model.train
from model.measure.scores import GATE

FOLDER = Path(model.train.__file__).parent / "written"
SENTENCES = (
    *("words-*.tsv", "ambiguity.tsv", "dialogues.tsv", "health.tsv", "long.tsv", "paragraphs.tsv"),
    *("stories.tsv", "textbook.tsv", "traditional.tsv"),
)
CHINESE = re.compile(r"[\u3400-\u9fff]")


def plain(sentence: str) -> str:
    """Return a sentence without case, spaces and punctuation, by which near-copies are equal."""
    return re.sub(r"[\W_]", "", sentence.lower())


def pairs(*patterns: str) -> list[list[str]]:
    """Return the columns of all lines of some files."""
    paths = sorted({path for pattern in patterns for path in FOLDER.glob(pattern)})
    return [line.split("\t") for path in paths for line in path.read_text().splitlines()]


def test_every_line_is_a_pair_of_its_own() -> None:
    every = pairs("*.tsv")
    assert len(every) > 10_000
    for pair in every:
        assert len(pair) == 2, pair
        assert all(text and text == text.strip() for text in pair), pair
    for side in zip(*every, strict=True):
        written = Counter(plain(text) for text in side)
        del written[""]  # marks and emoji alone
        [(sentence, times)] = written.most_common(1)
        assert times == 1, sentence


def test_a_sentence_is_as_long_as_its_counterpart_and_in_its_script() -> None:
    """Other files have numbers, addresses, code, nonsense, and what is very short."""
    for english, chinese in pairs(*SENTENCES):
        assert not CHINESE.search(english), english
        characters = len(CHINESE.findall(chinese))
        assert 0.6 < characters / len(english.split()) < 4, (english, chinese)


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
