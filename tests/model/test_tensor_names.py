"""Patterns of names: what they match, by `fnmatch`, and what they may cost."""

import time
from collections.abc import Sequence
from fnmatch import fnmatchcase

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from model.errors import InputError
from model.trace.tensor_names import (
    ATTRIBUTIONS,
    EMBEDDING,
    MAX_PATTERNS,
    matching,
    present,
    select,
)
from tests.time_growth import worse_than_linear

# Few characters, so that a pattern often matches.
NAMES = st.lists(st.text("ab.-!]", max_size=6), max_size=5, unique=True)
PATTERNS = st.text("ab.-!]*?[", max_size=9)


@settings(max_examples=2_000, deadline=None)
@given(PATTERNS, NAMES)
@example("*", ["", "a", "ab"])
@example("**a?*", ["a", "ab", "bab", "bb"])
@example("[!]a]*", ["]", "a", "b", "ba"])
@example("[a-b-]", ["a", "-", "b"])
@example("[b-a]", ["a", "b"])
@example("[!b-a]", ["a", "b"])
@example("[--a]", ["-", ".", "a", "!"])
@example("[a", ["[a", "a"])
@example("a[", ["a[", "a"])
def test_a_pattern_matches_what_fnmatch_says(pattern: str, names: list[str]) -> None:
    wanted = [name for name in names if name == pattern or fnmatchcase(name, pattern)]
    if pattern in names:
        wanted = [pattern]
    assert matching(pattern, names) == wanted


def test_characters_that_mark_places_are_no_characters_of_names() -> None:
    for mark in "\0\1":
        for pattern in (f"a{mark}*", f"*{mark}", f"*{mark}b*", f"?[{mark}-b]"):
            assert matching(pattern, ["a", "b", "ab"]) == (["ab"] if pattern[0] == "?" else [])


def test_large_and_derived_names_are_named_in_full() -> None:
    names = ("a.q", EMBEDDING, "a.logits", "inside.lens.rank", *sorted(ATTRIBUTIONS))
    assert matching("*", names) == ["a.q"]
    assert matching("inside.*", names) == ["inside.lens.rank"]
    assert matching("i*", names) == matching("?nside.*", names) == []
    for name in names:
        assert matching(name, names) == [name]
    assert present(["b*", "*.q", "inside.*", EMBEDDING], names) == ["*.q", "inside.*", EMBEDDING]


def test_the_order_is_that_of_the_names() -> None:
    names = ("c", "a1", "b", "a2", "d")
    assert select(("a*", "d", "c", "a?"), names) == ("c", "a1", "a2", "d")


@pytest.mark.parametrize(
    ("patterns", "value"),
    [
        (["a"] * (MAX_PATTERNS + 1), MAX_PATTERNS + 1),
        ([f"{n}{'*' * 100}" for n in range(30)], 10 * 101 + 20 * 102),
    ],
)
def test_too_many_patterns_and_too_long_ones(patterns: Sequence[str], value: int) -> None:
    with pytest.raises(InputError) as refused:
        select(patterns, ("a",))
    assert refused.value.kind == "too-many-patterns"
    assert refused.value.excess
    assert refused.value.excess.value == value
    assert str(refused.value.excess.limit) in str(refused.value)


def test_full_names_may_be_as_many_as_patterns() -> None:
    names = [f"{'long.' * 20}{n}" for n in range(MAX_PATTERNS)]
    assert select(names, names) == tuple(names)
    assert select(["*"] * MAX_PATTERNS, ("a",)) == ("a",)


NAMES_OF_A_LARGE_MODEL = tuple(
    f"decoder.{layer}.{part}.{name}"
    for layer in range(48)
    for part in ("self", "cross", "ffn")
    for name in ("q", "k", "v", "scores", "mask", "weights", "mix", "output", "residual", "norm")
)


@pytest.mark.parametrize("end", ["", "*s", "*zzz"])
@pytest.mark.parametrize("unit", ["*", "?", "*?", "*e", "[!a]*", "[!a-z]", "[a-", "[", "*[!]", "]"])
def test_a_pattern_takes_linear_time(unit: str, end: str) -> None:
    def pattern(size: int) -> str:
        return (unit * size)[:size] + end

    names = NAMES_OF_A_LARGE_MODEL
    matched = lambda text: matching(text, names)  # noqa: E731
    assert worse_than_linear([(unit, matched, pattern)]) == []


def test_hundreds_of_patterns_take_little_more_than_one() -> None:
    """They are all read within the time in which a few were compiled; none is cached."""

    def seconds(patterns: Sequence[str]) -> float:
        started = time.thread_time()
        for pattern in patterns:
            matching(pattern, NAMES_OF_A_LARGE_MODEL)
        return time.thread_time() - started

    def compiled(patterns: Sequence[str]) -> float:
        started = time.thread_time()
        for pattern in patterns:
            any(fnmatchcase(name, pattern) for name in NAMES_OF_A_LARGE_MODEL)
        return time.thread_time() - started

    def hurting(start: int) -> list[str]:
        return [f"*[!abc{n}]*?*?*?*?*[!cba{n}X]*zzz" for n in range(start, start + 50)]

    seconds(["*a*"])
    ratios = [seconds(hurting(1_000 * n)) / compiled(hurting(1_000 * n)) for n in range(5)]
    assert min(ratios) < 0.5, ratios
