"""Which source words a translation leaves out, and which texts are nonsense: on cases by hand."""

from pathlib import Path

import pytest

from model.adapters.encoder_decoder.encoder_decoder_adapter import load
from model.adapters.requests.request import Request
from model.measure.certainty import cut_share, limit_of, nonsense
from model.measure.untranslated import (
    Read,
    SourceWord,
    attended,
    named,
    passed_over,
    place_of,
    translated,
    usual_words,
)
from model.measure.word_alignment import AlignedPair

SHIPPED = Path("model/checkpoints/en-zh")


def words(weights: dict[str, float]) -> list[SourceWord]:
    """Return adjacent words of one token each."""
    return [SourceWord(text, n, n, weight) for n, (text, weight) in enumerate(weights.items())]


def test_a_word_is_named_if_nothing_looks_at_it() -> None:
    sentence = words({"the": 0.05, "party": 0.11, "is": 0.05, "over": 0.05})
    assert passed_over(sentence, ["the"], 0.1) == [False, False, False, True]
    assert passed_over(sentence, [], 0.2) == [True, True, False, True]


def test_chinese_characters_are_named_in_company() -> None:
    """The case of `certainty.test.js`."""
    sentence = words(dict.fromkeys("顾客在看了灯塔的", 0.0) | {"在": 0.4})
    names = passed_over(sentence, ["客", "了", "的"], 0.1)
    assert names == [False] * 3 + [True] * 5
    assert passed_over(sentence, [], 0.1) == [True, True, False] + [True] * 5


def test_a_word_is_translated_if_a_linked_word_was_written() -> None:
    english = ("I", "love", "tea", ".")
    pair = AlignedPair(english, ("我", "爱", "茶", "。"), frozenset(), frozenset())
    links = {(0, 0), (1, 1), (3, 3)}
    judged = translated(["i", "love", "tea"], {"我", "喝", "茶"}, [(pair, links)])
    assert judged == (True, False, None), "tea has no link"
    other = AlignedPair(english, ("我", "喝"), frozenset(), frozenset())
    both = [(pair, links), (other, {(1, 1)})]
    assert translated(["i", "love", "tea"], {"我", "喝", "茶"}, both) == (True, True, None)
    assert translated(["i'd"], {"我"}, [(pair, links)]) == (None,), "cut otherwise"


def test_words_that_are_often_passed_over_are_usual() -> None:
    sentence = Read(tuple(words({"the": 0.0, "cat": 0.9})), (True, True))
    other = Read(tuple(words({"the": 0.9, "cat": 0.0})), (True, True))
    assert usual_words([sentence] * 3 + [other], 0.1) == ["the"], "cat is passed over only once"
    assert usual_words([sentence] * 2 + [other] * 18, 0.1) == ["cat", "the"]
    assert usual_words([sentence] * 2 + [other] * 19, 0.1) == ["cat"], "less than a tenth"
    assert usual_words([sentence] * 3, 0.1) == [], "too few"


def test_what_naming_is_worth_by_hand() -> None:
    left_out = Read(tuple(words({"the": 0.0, "party": 0.0, "over": 0.9})), (None, False, False))
    wrongly = Read(tuple(words({"cat": 0.0, "sat": 0.9})), (True, True))
    first, second, together = named([[left_out], [wrongly]], 0.1)
    assert (first["count"], first["precision"], first["recall"]) == (2, 1.0, 0.5)
    assert (second["count"], second["precision"]) == (2, 0.0)
    assert (together["precision"], together["recall"]) == (0.5, 0.5)


def test_the_weights_are_those_of_the_rows_that_read() -> None:
    adapter = load(SHIPPED.resolve(), "cpu")
    aligner = adapter.info.aligners[0]
    assert aligner.rows == "reads", "the head of the lower error"
    [trace] = adapter.run([Request("I love you.", select=(place_of(aligner),))])
    weights = trace[place_of(aligner)].value[aligner.head]
    columns = {token.text.strip().lower(): n for n, token in enumerate(trace.texts["source"])}
    after = weights[1 : 1 + sum(not token.special for token in trace.output.tokens)]
    expected = {word: float(after[:, columns[word]].max()) for word in ("i", "love", "you")}
    assert {word.text: word.weight for word in attended(trace, aligner)} == expected


def test_nonsense_keeps_lengths_signs_and_letters() -> None:
    texts = ["I love you, Tom.", "他们在看书。"]
    made = nonsense(texts)
    assert made != texts
    assert made == nonsense(texts), "the same each time"
    for text, other in zip(texts, made, strict=True):
        assert [c if not c.isalpha() else "x" for c in text] == [
            c if not c.isalpha() else "x" for c in other
        ]
    assert sorted("".join(made)) == sorted("".join(texts))


def test_the_limit_is_the_smallest_within_which_enough_are() -> None:
    assert limit_of([0.1, 0.2, 0.3, 0.4], 0.75) == 0.3
    assert limit_of([0.4, 0.1], 0.98) == 0.4


def test_nonsense_is_cut_more_finely_than_sentences() -> None:
    tokenizer = load(SHIPPED.resolve(), "cpu", measured=False).tokenizer

    def value(text: str) -> float:
        return cut_share(text, tokenizer.encode(text))

    assert value("Hi Tom.") == pytest.approx(1 / 3)
    assert value("...") == 0
    assert value("我爱你。") == 0
    assert max(map(value, ["The cat sat on the mat.", "Attention is all you need."])) < 0.3
    assert min(map(value, ["asdf qwer", "jkl fdsa poi", "Ikie deeagao lagwhdk."])) >= 0.4
