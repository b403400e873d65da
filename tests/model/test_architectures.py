"""docs/models.md has every architecture for text, and is right about some of each kind."""

import re
from collections import Counter

import pytest

from tests.model.architectures import OUTCOMES, PAGE, Tried, attempt, names, rows, tried

transformers = pytest.importorskip("transformers")
TEXT = PAGE.read_text() if PAGE.exists() else ""
ROWS = {row.name: row for row in rows(TEXT)}
# Of each kind some: BERT, GPT-2 and T5 stand for most, the others for what is rare.
AGAIN = ("BertModel", "GPT2Model", "T5Model", "LlamaModel", "BloomModel", "MambaModel", "FNetModel")


def test_the_page_counts_its_rows() -> None:
    counts = Counter(row.outcome for row in ROWS.values())
    for outcome, words in OUTCOMES.items():
        stated = re.search(rf"^\| {words} \| (\d+) \|$", TEXT, re.MULTILINE)
        assert counts[outcome] == (int(stated[1]) if stated else 0), words
    version, every, others, texts = re.findall(
        r"`transformers` (\S+) has (\d+) classes .*?which (\d+) read .*?The other (\d+),",
        TEXT,
        re.DOTALL,
    )[0]
    assert version == transformers.__version__
    assert int(every) == len(names())
    assert int(texts) == len(ROWS) == int(every) - int(others)
    assert [*ROWS] == sorted(ROWS, key=str.lower)
    assert {*ROWS} <= {*names()}


def test_what_is_not_served_has_a_reason() -> None:
    for row in ROWS.values():
        assert bool(row.reason) == (row.outcome in {"refused", "fails", "not tried"}), row


@pytest.mark.parametrize("name", AGAIN)
def test_a_row_is_as_it_is_now(name: str) -> None:
    again = attempt(name)
    assert again.outcome == ROWS[name].outcome
    assert again.reason[:60] == ROWS[name].reason[:60]


def test_an_architecture_that_takes_too_long_stops_no_other() -> None:
    late, _ = results = list(tried(["BertModel", "NoModel"], seconds=1))
    assert late == Tried("BertModel", "not tried", "the process that tries it takes more than 1 s")
    assert [result.name for result in results] == ["BertModel", "NoModel"]
