"""Goals: words found in texts, and weights judged, on replies made by hand."""

from typing import Any, Literal

import numpy as np
import pytest

from app.engine.reply_formats import Reply
from app.figures.challenge_goals import (
    Goal,
    broken_rule,
    check_goal,
    differs_in_a_word,
    judge,
    occurrences,
)
from model.errors import InputError
from model.trace.attentions import AttentionInfo


def attention(place: str, query: str, key: str, mask: str) -> AttentionInfo:
    stack, layer, name = place.split(".")
    kind: Literal["self", "cross"] = "self" if name == "self" else "cross"
    heads = 2
    return AttentionInfo(
        place, stack, int(layer), kind, query, key, heads, heads, mask, "scaled-dot"
    )


TABLE = [
    attention("encoder.0.self", "source", "source", "padding"),
    attention("decoder.0.self", "target", "target", "padding & causal"),
    attention("decoder.0.cross", "target", "source", "padding"),
]
SOURCE = "The unhappy bank, Bank"
SPANS = [("The", 0, 3), (" un", 3, 6), ("happy", 6, 11), (" bank", 11, 16), (",", 16, 17)]
SPANS += [(" Bank", 17, 22), ("<eos>", 22, 22)]


def tokens(spans: list[tuple[str, int, int]]) -> list[dict[str, Any]]:
    return [
        {"text": text, "start": start, "end": end, "special": start == end, "pair": False}
        for text, start, end in spans
    ]


WRITTEN = tokens([("河", 0, 1), ("岸", 1, 2), ("<eos>", 2, 2)])
READ = tokens([("<bos>", 0, 0), ("河", 0, 1), ("岸", 1, 2)])


def ran(place: str, weights: Any) -> Reply:
    document = {
        "tokens": {"source": tokens(SPANS), "target": READ},
        "output": {"text": "河岸", "tokens": WRITTEN},
    }
    return Reply(document, {f"{place}.weights@1": np.array(weights, np.float32)})


def encoder_weights() -> Any:
    weights = np.zeros((7, 7))
    weights[0, [1, 2, 5]] = 0.3, 0.25, 0.45  # The: un, happy, Bank
    weights[3, [3, 6]] = 0.2, 0.8  # bank: itself, <eos>
    return weights


def judged(place: str = "encoder.0.self", weights: Any = None, **goal: Any) -> Any:
    of_run = encoder_weights() if weights is None else weights
    return judge(Goal(**goal), ran(place, of_run), TABLE, SOURCE)


def test_a_word_is_all_its_tokens_and_the_occurrence_that_gets_the_most() -> None:
    word = judged(kind="weight", key="unhappy", query="the", least=0.55)
    assert (word.does, round(word.weight, 6)) == (True, 0.55)
    assert judged(kind="weight", key="unhappy", query="the", least=0.56).does is False
    twice = judged(kind="weight", key="BANK", query="The", least=0.45)
    assert (twice.does, twice.strongest) == (True, "Bank")
    assert judged(kind="weight", key="bank", query="bank", least=0.21).does is False
    assert judged(kind="weight", key="bank", least=0.45).does is True  # of any row
    assert judged(kind="weight", key="<eos>", query="bank", least=0.8).does is True


def test_the_strongest_weight_of_the_rows_must_go_to_the_word() -> None:
    assert judged(kind="strongest", key="bank", query="The").does is True
    assert judged(kind="strongest", key="unhappy", query="The").does is False  # though its sum is
    of_head = judged(kind="strongest", key="bank")
    assert (of_head.does, of_head.strongest) == (False, "<eos>")
    nothing = judged(kind="strongest", key="bank", query="unhappy")
    assert nothing.does is False  # a row that is masked as a whole looks nowhere


def test_a_row_of_a_decoder_is_the_token_that_it_writes() -> None:
    weights = np.zeros((3, 7))
    weights[1, 3] = 0.9  # reads 河, writes 岸
    assert judged("decoder.0.cross", weights, kind="weight", key="bank", query="岸").does is True
    assert judged("decoder.0.cross", weights, kind="weight", key="bank", query="河").does is False
    own = np.zeros((3, 3))
    own[1, 1] = 0.9
    assert judged("decoder.0.self", own, kind="weight", key="河", query="岸").does is True


def test_a_word_that_the_texts_do_not_have_is_named() -> None:
    for goal in ({"key": "river"}, {"key": "bank", "query": "river"}):
        verdict = judged(kind="weight", **goal)
        assert (verdict.does, verdict.missing) == (False, "river")


def test_numbers_that_are_not_finite_count_as_nothing() -> None:
    weights = encoder_weights()
    weights[0, 5] = np.nan
    verdict = judged(weights=weights, kind="weight", key="bank", query="The")
    assert (verdict.does, verdict.weight) == (False, 0.0)


def test_what_is_written_has_all_words_or_none() -> None:
    for kind, words, does in (
        ("contains", ["河岸"], True),
        ("contains", ["河岸", "银行"], False),
        ("lacks", ["银行"], True),
        ("lacks", ["银行", "河"], False),
    ):
        verdict = judge(Goal(kind=kind, words=words), ran("x", []), TABLE, SOURCE)  # type: ignore[arg-type]
        assert (verdict.does, verdict.output) == (does, "河岸")
    silent = Reply({"tokens": {}}, {})
    with pytest.raises(InputError):
        judge(Goal(kind="contains", words=["a"]), silent, TABLE, SOURCE)


def test_words_of_alphabets_are_whole_words_and_those_of_chinese_are_anywhere() -> None:
    assert occurrences("bank", "Banks bank embank BANK") == [(6, 10), (18, 22)]
    assert occurrences("bank", "去bank吧") == [(1, 5)]
    assert occurrences("银行", "在银行里") == [(1, 3)]
    assert occurrences("a.c", "abc a.c") == [(4, 7)]
    assert occurrences("it", "İİ it") == [(3, 5)]  # no letter changes the places of others


@pytest.mark.parametrize(
    ("text", "original", "does"),
    [
        ("The cat sat", "The cat sat", True),
        ("The dog sat", "The cat sat", True),
        ("The black cat sat", "The cat sat", True),
        ("cat sat", "The cat sat", True),
        ("The big dog sat", "The cat sat", False),
        ("A cat stood", "The cat sat", False),
        ("我去河岸", "我去银行", True),
        ("你去河岸", "我去银行", True),
        ("你们今天去河岸", "我去银行", False),
    ],
)
def test_one_word_may_be_another(text: str, original: str, does: bool) -> None:
    assert differs_in_a_word(text, original) is does


def test_rules_are_checked_without_a_run() -> None:
    goal = Goal(kind="any", uses=["bank"], one_word=True)
    assert broken_rule(goal, "The bank", "The bank") is None
    missing = broken_rule(goal, "The river", "The bank")
    assert missing
    assert (missing.does, missing.missing) == (False, "bank")
    other = broken_rule(goal, "A bank by the sea", "The bank")
    assert other
    assert (other.does, other.rewritten) == (False, True)


def test_a_goal_has_the_words_that_it_is_about() -> None:
    for goal in (Goal(kind="weight"), Goal(kind="strongest", query="a"), Goal(kind="lacks")):
        with pytest.raises(InputError):
            check_goal(goal)
