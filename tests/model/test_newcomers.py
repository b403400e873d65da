"""The newcomers' list: fair and strict patterns, and sentences that the gate does not have.

`newcomers_examples.tsv` has good and wrong translations of each sentence, separated by " | ".
"""

import re
from collections import Counter
from pathlib import Path

from model.measure.scores import read_gate
from model.train.data import read_rows
from model.train.pair_cleaning import key

LIST = Path("model/measure/newcomers.tsv")
EXAMPLES = Path(__file__).with_name("newcomers_examples.tsv")
SENTENCES = {sentence.text: sentence for sentence in read_gate(LIST)}
EXAMPLE_ROWS = read_rows(EXAMPLES, columns=(3,))
REPEATED_GROUP = re.compile(r"(?<!\\)\)[*+{]")


def test_a_hundred_sentences_of_each_direction() -> None:
    directions = Counter(sentence.direction for sentence in SENTENCES.values())
    assert directions == {"en-zh": 100, "zh-en": 100}


def test_no_sentence_is_in_the_gate() -> None:
    gate = {key(sentence.text) for sentence in read_gate()}
    assert [text for text in SENTENCES if key(text) in gate] == []


def test_every_sentence_has_examples() -> None:
    assert [row[0] for row in EXAMPLE_ROWS] == list(SENTENCES)


def test_good_translations_pass_and_wrong_ones_do_not() -> None:
    for text, good, wrong in EXAMPLE_ROWS:
        right, bad = good.split(" | "), wrong.split(" | ")
        assert min(len(right), len(bad)) >= 2, text
        assert [example for example in right if not SENTENCES[text].passes(example)] == []
        assert [example for example in bad if SENTENCES[text].passes(example)] == []


def test_a_pattern_repeats_no_group_and_accepts_no_fragment() -> None:
    for text, sentence in SENTENCES.items():
        assert not REPEATED_GROUP.search(sentence.pattern), f"{text}: may take exponential time"
        fragments = ("", "我", "你", "It is.", "the", text)
        assert [fragment for fragment in fragments if sentence.passes(fragment)] == [], text
