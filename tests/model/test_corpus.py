"""Rows of heads over many sentences: patterns, the index, searches and rankings, by brute force."""

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import numpy as np
import pytest
import torch
from torch import Tensor

from model.corpus.row_index import Gathered, Index
from model.corpus.row_patterns import COUNTS, PATTERNS, described, patterns_of, row_flags, shares
from model.corpus.row_search import RowQuery, search, tenths
from model.explain.patterns import Axes
from model.text.tokens import Token

WORDS = ["the", " cat", " sat", ".", " cat", " dog", "，", "s"]


def tokens(random: Random, count: int) -> list[Token]:
    words = [random.choice(WORDS) for _ in range(count - 1)]
    return [*(Token(one, 1, 0, 0, False) for one in words), Token("<eos>", 2, 0, 0, True)]


def attention(random: Random, queries: int, keys: int, causal: bool) -> tuple[Tensor, Tensor]:
    """Return weights (2, N, M), partly sharp, and the mask."""
    generator = torch.Generator().manual_seed(random.randrange(10**6))
    mask = torch.ones(queries, keys, dtype=torch.bool)
    if causal:
        mask = mask.tril()
    scores = 4 * torch.randn(2, queries, keys, generator=generator)
    return scores.masked_fill(~mask, -math.inf).softmax(-1), mask


def holding(weights: Tensor, axes: Axes, mask: Tensor, i: int) -> set[str]:
    """Return the patterns of row i of one head (N, M), cell by cell."""
    queries, keys = axes.queries, axes.keys
    texts = [one.text.strip().lower() for one in keys]
    sees = [j for j in range(len(keys)) if mask[i, j]]
    row = weights[i].tolist()
    counting = [r for r in range(len(queries)) if mask[r].sum() >= 2 and weights[r].sum() > 0]
    if i not in counting:
        return set()

    def word(j: int) -> bool:
        same = not queries[i].special and not keys[j].special
        return same and texts[j] == queries[i].text.strip().lower() and (axes.cross or i != j)

    means = [sum(float(weights[r, j]) for r in counting) / len(counting) for j in range(len(keys))]
    sets: dict[str, Callable[[int], bool]] = {
        "same-word": word,
        "first-token": lambda j: j == 0,
        "last-token": lambda j: j == len(keys) - 1,
        "punctuation": lambda j: texts[j] in {".", "，"},
        "special": lambda j: keys[j].special,
        "sink": lambda j: means[j] >= 0.3,
    }
    if not axes.cross:
        sets |= {
            "previous-token": lambda j: j == i - 1,
            "itself": lambda j: j == i,
            "next-token": lambda j: j == i + 1,
            "nearby": lambda j: abs(i - j) <= 2,
            "induction": lambda j: j > 0 and j < i and word(j - 1),
        }
    found = set()
    for name, has in sets.items():
        there = [j for j in sees if has(j)]
        weight = sum(row[j] for j in there)
        if weight >= 0.5 and weight > 1.5 * len(there) / len(sees):
            found.add(name)
    if axes.cross and max((row[j] for j in sees if not keys[j].special), default=0) >= 0.5:
        found.add("one-word")
    if -sum(w * math.log(w) for w in row if w > 0) >= 0.9 * math.log(len(sees)):
        found.add("broad")
    return found


def names(flags: int) -> set[str]:
    return {name for bit, name in enumerate(PATTERNS) if flags & (1 << bit)}


@pytest.mark.parametrize("kind", ["self", "causal", "cross"])
def test_patterns_of_every_row_agree_with_counting_cells(kind: str) -> None:
    random = Random(kind)
    seen: set[str] = set()
    for _ in range(30):
        queries = tokens(random, random.randint(1, 14))
        keys = tokens(random, random.randint(1, 14)) if kind == "cross" else queries
        axes = Axes(queries, keys, kind == "cross")
        weights, mask = attention(random, len(queries), len(keys), kind == "causal")
        weights[0] = torch.where(mask, weights[0] ** 0.05, 0)  # nearly uniform
        weights[0] /= weights[0].sum(-1, keepdim=True)
        flags = row_flags(weights, axes, mask)
        for head in range(2):
            for i in range(len(queries)):
                expected = holding(weights[head], axes, mask, i)
                assert names(int(flags[head, i])) == expected
                assert bool(flags[head, i] & COUNTS) == bool(mask[i].sum() >= 2)
                seen |= expected
    missing = {"next-token"} if kind == "causal" else set()
    assert seen == {*patterns_of(kind == "cross")} - missing


def test_a_head_is_described_by_what_each_pattern_adds() -> None:
    bits = {name: 1 << PATTERNS.index(name) for name in PATTERNS}
    near, before, special = bits["nearby"], bits["previous-token"], bits["special"]
    rows = [near] * 50 + [near | before] * 10 + [special] * 20 + [special | near] * 5 + [0] * 15
    flags = np.array([COUNTS | one for one in rows] + [near] * 99, dtype=np.uint16)
    assert shares(flags, ["nearby", "previous-token"]) == {"nearby": 0.65, "previous-token": 0.1}
    assert described(flags, patterns_of(cross=False)) == {"nearby": 0.65, "special": 0.2}
    narrow = np.array([COUNTS | near | before] * 9 + [COUNTS | near], dtype=np.uint16)
    # The narrower pattern holds in nine of the ten rows in which the broader one does.
    assert described(narrow, patterns_of(cross=False))["previous-token"] == 0.9
    assert described(np.array([0], np.uint16), patterns_of(cross=False)) == {}


@pytest.fixture(scope="module")
def index(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Index, list[list[Token]], list[Tensor]]:
    """An index of 80 sentences and one attention of two heads, with its tokens and weights."""
    random, texts, rows = Random(5), [], []
    gathered = Gathered({"encoder.0.self": ("text", "text")})
    for number in range(80):
        text = tokens(random, random.randint(1, 12))
        weights, mask = attention(random, len(text), len(text), causal=False)
        gathered.add_sentence({"source": f"sentence {number}"}, {"text": text})
        gathered.add_rows("encoder.0.self", weights, Axes(text, text), mask)
        texts.append(text)
        rows.append(weights)
    folder = tmp_path_factory.mktemp("index")
    gathered.write(folder, "digest")
    return Index(folder), texts, rows


def occurs(text: list[Token], at: int, word: str) -> bool:
    """Return whether a token is part of a word, which may be spelled by several."""
    for start in range(at + 1):
        for end in range(at + 1, len(text) + 1):
            first, *others = text[start:end]
            spelled = "".join([first.text, *(one.text for one in others)]).strip()
            whole = not any(one.text.startswith(" ") or one.special for one in others)
            if spelled == word and whole:
                return True
    return False


def matching(
    texts: list[list[Token]], rows: list[Tensor], asked: RowQuery
) -> Iterator[tuple[int, int, int, int]]:
    """Yield (−weight in 255ths, sentence, row, key) of all rows that match, one after the other."""
    for number, (text, weights) in enumerate(zip(texts, rows, strict=True)):
        if len(text) < 2:
            continue

        def patterns(i: int, text: list[Token] = text, weights: Tensor = weights) -> set[str]:
            mask = torch.ones(len(text), len(text), dtype=torch.bool)
            return holding(weights[asked.head], Axes(text, text), mask, i)

        for i, row in enumerate(weights[asked.head].tolist()):
            key = max(range(len(row)), key=lambda j: row[j])
            tenth = round(row[key] * 255)
            if tenth < asked.weight * 255 or abs(i - key) < asked.distance:
                continue
            here = not asked.query.strip() or occurs(text, i, asked.query)
            there = not asked.key or occurs(text, key, asked.key)
            if here and there and (not asked.pattern or asked.pattern in patterns(i)):
                yield -tenth, number, i, key


@pytest.mark.parametrize(
    "wanted",
    [
        {},
        {"query": "cat"},
        {"query": "cats", "weight": 0.4},
        {"key": "cat", "distance": 3},
        {"query": "the", "key": "<eos>"},
        {"pattern": "induction"},
        {"pattern": "nearby", "key": ".", "weight": 0.6},
        {"query": "nothing"},
        {"query": " "},
    ],
)
@pytest.mark.parametrize("head", [0, 1])
def test_a_search_finds_what_a_loop_over_all_rows_finds(
    index: tuple[Index, list[list[Token]], list[Tensor]], wanted: dict[str, object], head: int
) -> None:
    one, texts, rows = index
    asked = RowQuery("encoder.0.self", head, **wanted)  # type: ignore[arg-type]
    expected = sorted(matching(texts, rows, asked))
    found = search(one, asked, limit=1000)
    assert found.rows == len(expected)
    best: dict[int, tuple[int, int, int]] = {}
    for weight, number, i, key in expected:
        best.setdefault(number, (weight, i, key))
    assert found.sentences == len(best)
    assert [(row.sentence, row.query, row.key) for row in found.best] == [
        (number, i, key) for number, (_, i, key) in best.items()
    ]
    assert search(one, asked, limit=3).best == found.best[:3]


def test_a_word_is_found_in_all_its_spellings(tmp_path: Path) -> None:
    """Also a word that has more of them than could be tried one by one."""
    place, random = "encoder.0.self", Random(8)
    gathered = Gathered({place: ("text", "text")})
    texts = []
    for number in range(20):
        parts = random.choices(["a", " a", "an", "n", "na", " na"], k=random.randint(2, 40))
        texts.append([Token(one, 1, 0, 0, False) for one in parts])
        weights, mask = attention(random, len(parts), len(parts), causal=False)
        gathered.add_sentence({"source": f"sentence {number}"}, {"text": texts[-1]})
        gathered.add_rows(place, weights, Axes(texts[-1], texts[-1]), mask)
    gathered.write(tmp_path, "digest")
    index = Index(tmp_path)
    for word in ("an", "ana", "nan", "anan", "annan", "an" * 50):
        found = search(index, RowQuery(place, 0, query=word), limit=60)
        expected = [sum(occurs(text, at, word) for at in range(len(text))) for text in texts]
        assert found.rows == sum(expected), word
        assert found.sentences == sum(map(bool, expected)), word


def test_examples_go_from_the_most_to_the_least(
    index: tuple[Index, list[list[Token]], list[Tensor]],
) -> None:
    one, texts, rows = index
    means = {
        number: sum(round(float(row.max()) * 255) for row in weights[1]) / len(weights[1]) / 255
        for number, weights in enumerate(rows)
        if len(texts[number]) >= 4
    }
    ranking = sorted(means, key=lambda number: -means[number])
    found = tenths(one, "encoder.0.self", 1)
    assert [number for number, _ in found] == [
        ranking[round(tenth * (len(ranking) - 1) / 10)] for tenth in range(11)
    ]
    assert [value for _, value in found] == pytest.approx([means[number] for number, _ in found])
    by = [value for _, value in tenths(one, "encoder.0.self", 1, "nearby")]
    assert by == sorted(by, reverse=True)
    assert by[0] > by[-1]


def test_what_an_index_does_not_have_is_an_error(
    index: tuple[Index, list[list[Token]], list[Tensor]], tmp_path: Path
) -> None:
    one, *_ = index
    assert one.sentence(79) == {"source": "sentence 79"}
    assert len(one) == 80
    for place, head in (("encoder.1.self", 0), ("encoder.0.self", 2)):
        with pytest.raises(KeyError):
            search(one, RowQuery(place, head))
    with pytest.raises(ValueError, match="pattern"):
        search(one, RowQuery("encoder.0.self", 0, pattern="none"))
    with pytest.raises(ValueError, match="index"):
        Index(tmp_path)
