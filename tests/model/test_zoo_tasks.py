"""Tasks of the zoo: answers found in another way, the deciding tokens, held-out examples."""

import re
from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.zoo import who_is_it
from model.zoo.registry import TASKS, solve, tokenizer_of
from model.zoo.tasks import Example

SEEDS = st.integers(0, 2**32)


def words(example: Example) -> tuple[list[str], list[str]]:
    """Return the source and the answer as typed, in words or characters."""
    return [one.strip() for one in example.source], [one.strip() for one in example.target]


@pytest.mark.parametrize("name", TASKS)
@settings(deadline=None)
@given(seed=SEEDS, data=st.data())
def test_every_task(name: str, seed: int, data: st.DataObject) -> None:
    task = TASKS[name]
    length = data.draw(st.integers(task.shortest, min(task.longest, 12)))
    example = task.make(Random(seed), length)
    assert example == task.make(Random(seed), length), "a pure function of the generator"
    assert len(example.cross) == len(example.target) > 0
    for places in (*example.cross, *example.within.values()):
        assert places
        assert all(0 <= place < len(example.source) for place in places)


@pytest.mark.parametrize("name", TASKS)
def test_its_tokens_are_the_tokenizers(name: str) -> None:
    task, tokenizer = TASKS[name], tokenizer_of(TASKS[name])
    random = Random(1)
    for number in range(200):
        length = task.shortest + number % (min(task.longest, 12) - task.shortest + 1)
        example = task.make(random, length)
        for text, expected in (
            (example.source_text, example.source),
            (example.target_text, example.target),
        ):
            found = tokenizer.encode(text)
            assert tuple(token.text for token in found) == expected
            assert tokenizer.written([token.id for token in found])[0] == text


@settings(deadline=None)
@given(seed=SEEDS, length=st.integers(1, 12))
def test_letters_in_another_order(seed: int, length: int) -> None:
    answers: dict[str, Callable[[list[str]], list[str]]] = {
        "copy": list,
        "reverse": lambda letters: letters[::-1],
        "shift": lambda letters: letters[2:] + letters[:2],
        "sort": sorted,
    }
    for name, answer in answers.items():
        example = TASKS[name].make(Random(seed), length)
        source, target = words(example)
        assert len(source) == length
        assert target == (answer(source) if length > 1 else source)
        for letter, places in zip(target, example.cross, strict=True):
            assert {source[place] for place in places} == {letter}
    diagonal = TASKS["reverse"].make(Random(seed), length).cross
    assert diagonal == tuple(frozenset({length - 1 - place}) for place in range(length))


@settings(deadline=None)
@given(seed=SEEDS, length=st.integers(3, 27))
def test_induction_asks_what_came_next(seed: int, length: int) -> None:
    example = TASKS["induction"].make(Random(seed), length)
    source, target = words(example)
    assert len(source) == length
    found = source.index(source[-1]) + 1
    assert found < length - 1, "the question is not its own answer"
    assert target == [source[found]]
    assert example.cross == (frozenset({found}),)
    assert example.within == {length - 1: frozenset({found})}


@settings(deadline=None)
@given(seed=SEEDS, length=st.integers(1, 30))
def test_brackets_are_closed(seed: int, length: int) -> None:
    example = TASKS["brackets"].make(Random(seed), length)
    assert len(example.source) == length
    whole = example.source_text + example.target_text
    while (shorter := re.sub(r"\(\)|\[\]|\{\}", "", whole)) != whole:
        whole = shorter
    assert whole == ""
    for answer, (place,) in zip(example.target, example.cross, strict=True):
        assert example.source[place] + answer in ("()", "[]", "{}")
    for place, (partner,) in example.within.items():
        inside = example.source_text[partner + 1 : place]
        assert partner < place
        assert example.source[partner] + example.source[place] in ("()", "[]", "{}")
        assert all(inside.count(a) == inside.count(b) for a, b in ("()", "[]", "{}"))


@settings(deadline=None)
@given(seed=SEEDS, length=st.integers(1, 9))
def test_sums_look_at_their_column(seed: int, length: int) -> None:
    example = TASKS["addition"].make(Random(seed), length)
    first, second = example.source_text.split("+")
    assert max(len(first), len(second)) <= length
    assert int(example.target_text) == int(first) + int(second)
    at = example.source.index("+")
    for column, places in enumerate(reversed(example.cross)):
        from_right = {(at if place < at else len(example.source)) - 1 - place for place in places}
        assert from_right == {min(column, max(len(first), len(second)) - 1)}


@pytest.mark.parametrize("name", TASKS)
def test_nothing_held_out_is_trained(name: str) -> None:
    task = TASKS[name]
    length = min(task.longest, 6)
    trained, kept = (
        {task.draw(Random(seed), length, held_out).source_text for seed in range(300)}
        for held_out in (False, True)
    )
    assert trained
    assert kept
    assert not trained & kept


def test_lengths_out_of_range_are_rejected() -> None:
    with pytest.raises(ValueError, match="length must be 3 to 27 letters, not 2"):
        TASKS["induction"].draw(Random(0), 2, held_out=False)
    every = replace(TASKS["brackets"], shortest=1)
    with pytest.raises(ValueError, match="none of 1000 examples of length 1 is held out"):
        every.draw(Random(0), 1, held_out=True)


@settings(deadline=None)
@given(seed=SEEDS)
def test_it_stands_for_the_noun_that_the_property_fits(seed: int) -> None:
    kinds = {noun: kind for kind, nouns in who_is_it.WORDS.nouns.items() for noun in nouns}
    fits = {word: kind for kind, found in who_is_it.WORDS.properties.items() for word in found}
    first, second = who_is_it.twins(Random(seed))
    differ = [a.strip() != b.strip() for a, b in zip(first.source, second.source, strict=True)]
    assert sum(differ) == 1, "one word"
    assert (
        {*first.target, *second.target}
        == {*who_is_it.nouns_of(first)}
        == {*who_is_it.nouns_of(second)}
    )
    for example in (first, second):
        (noun,), (it,) = example.target, example.within
        assert example.source[it] == " it"
        assert example.cross == (example.within[it],)
        assert kinds[noun] == fits[example.source[-2].strip()]
        assert [example.source[place].strip() for place in example.within[it]] == [noun]
        ((place, looked),) = who_is_it.from_property(example).within.items()
        assert example.source[place].strip() in fits
        assert looked == example.within[it]


def test_words_of_who_are_many_and_mean_one_thing() -> None:
    properties = [word for found in who_is_it.WORDS.properties.values() for word in found]
    nouns = [word for found in who_is_it.WORDS.nouns.values() for word in found]
    assert len(nouns) > 400
    assert len(properties) > 130
    assert len({*nouns, *properties}) == len(nouns) + len(properties)
    assert 30 < len(who_is_it.HELD_OUT) < 80
    assert all(who_is_it.HELD_OUT & {*found} for found in who_is_it.WORDS.nouns.values())


def test_held_out_nouns_are_known_but_from_no_sentence_of_two() -> None:
    random, alone = Random(0), set[str]()
    for _ in range(4000):
        assert not who_is_it.HELD_OUT & {
            *who_is_it.nouns_of(TASKS["who"].draw(random, 2, held_out=False))
        }
        alone.update(who_is_it.nouns_of(TASKS["who"].draw(random, 1, held_out=False)))
    assert alone >= who_is_it.HELD_OUT
    tired = who_is_it.about(
        "The animal didn't cross the street because it was too tired.", "animal"
    )
    assert who_is_it.held_out(tired)
    assert tired.within == {8: frozenset({1})}


@pytest.mark.parametrize("name", TASKS)
@settings(deadline=None)
@given(seed=SEEDS, data=st.data())
def test_what_was_drawn_is_solved_from_its_text(name: str, seed: int, data: st.DataObject) -> None:
    task = TASKS[name]
    length = data.draw(st.integers(task.shortest, min(task.longest, 12)))
    example = task.make(Random(seed), length)
    assert solve(name, example.source_text) == example


@pytest.mark.parametrize(
    ("task", "typed", "source", "target"),
    [
        ("reverse", "  CafD ", "c a f d", "d f a c"),
        ("sort", "b a b", "b a b", "a b b"),
        ("brackets", "[ ( ) {", "[(){", "}]"),
        ("addition", "007 + 5", "7+5", "12"),
        ("induction", "cafda", "c a f d a", "f"),
        ("who", "What is  the walrus?", "What is the walrus?", "animal"),
        (
            "who",
            "The street wasn't crossed by the animal because it was too tired.",
            "The street wasn't crossed by the animal because it was too tired.",
            "animal",
        ),
    ],
)
def test_typed_texts_are_solved(task: str, typed: str, source: str, target: str) -> None:
    found = solve(task, typed)
    assert (found.source_text, found.target_text) == (source, target)


@pytest.mark.parametrize(
    ("task", "typed", "why"),
    [
        ("copy", "a b 3", "letters from a to z"),
        ("copy", " ", "letters from a to z"),
        ("copy", "a" * 33, "1 to 32 letters, not 33"),
        ("copy", "é", "letters from a to z"),
        ("induction", "abc", "must occur once"),
        ("induction", "abb", "must occur once"),
        ("induction", "abaca", "must occur once"),
        ("brackets", "(a", "takes brackets"),
        ("brackets", "([)", "bracket 3 does not close"),
        ("brackets", "()[]", "must be left open"),
        ("brackets", "([", "3 to 32 brackets, not 2"),
        ("addition", "12", "two numbers with a plus sign"),
        ("addition", "1" * 10 + "+1", "1 to 9 digits, not 10"),
        ("who", "Hello.", "one or two of its nouns"),
        ("who", "The animal didn't cross the street because it was too blue.", "properties"),
        (
            "who",
            "The animal didn't cross the street because it was too salty.",
            "exactly one",
        ),
        ("who", "The cat avoided the dog because it was too tired.", "exactly one"),
        ("who", "The cat; it was too tired.", "a full stop at the end"),
    ],
)
def test_texts_that_do_not_fit_the_task_are_refused(task: str, typed: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        solve(task, typed)
