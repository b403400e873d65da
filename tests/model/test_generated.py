"""Generated examples: both sides mean the same, in the requested number, none from the gate."""

import random
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import pytest

from model.measure.scores import GATE, read_gate
from model.text.writing_systems import HAN
from model.train.data import TrainingExample
from model.train.events import Tidied
from model.train.generated import examples, lists, quantities
from model.train.generated.examples import SLOT, filled, generated
from model.train.pair_cleaning import key
from model.train.plan import TrainingData
from model.train.synthetic_pairs import FINAL, unmark
from model.train.training_examples import train_examples

BOTH = ("en", "zh")
UNREAD = {key(one.text) for one in read_gate()}


def drawn(slot: Callable[[random.Random], lists.Said], count: int = 300) -> list[lists.Said]:
    chance = random.Random(5)
    return [slot(chance) for _ in range(count)]


def test_the_same_seed_makes_the_same_examples() -> None:
    assert generated(500, BOTH, 3) == generated(500, BOTH, 3)
    assert generated(500, BOTH, 3) != generated(500, BOTH, 4)
    assert generated(0, ("en", "de"), 3) == []
    with pytest.raises(ValueError, match=r"'en', 'zh'.*'en', 'de'"):
        generated(1, ("en", "de"), 3)


def test_no_sentence_of_the_gate_is_ever_a_source() -> None:
    made = generated(8_000, BOTH, 1, UNREAD)
    assert not UNREAD & {key(one.source) for one in made}
    assert len({(one.source, one.target) for one in made}) > 4000
    assert {one.language for one in made} == {*BOTH}


def test_what_is_held_out_is_on_neither_side() -> None:
    first, second = generated(2, BOTH, 1)
    held = frozenset({key(first.source), key(second.target)})
    made = generated(5000, BOTH, 1, (), held)
    assert not held & {key(text) for one in made for text in (one.source, one.target)}


def test_a_run_reads_no_unread_sentence_and_trains_on_the_share_asked_for(tmp_path: Path) -> None:
    tsv, dev = tmp_path / "pairs.tsv", tmp_path / "dev.tsv"
    tsv.write_text("I think, therefore I am.\t我思故我在。\nA cat sat.\t猫坐着。\n", "utf-8")
    dev.write_text("A dog sat.\t狗坐着。\n", "utf-8")
    more = tmp_path / "more.tsv"
    more.write_text("A cow sat.\t牛坐着。\nA dog sat.\t狗坐着。\n", "utf-8")
    sampled = (f"{more}=0.3",)
    data = TrainingData((tsv,), (dev,), augment=0.0, generate=50.0, unread=(GATE,), sampled=sampled)
    pairs = [("I think, therefore I am.", "我思故我在。"), ("A cat sat.", "猫坐着。")]
    steps = train_examples(pairs, data, 1)
    examples: list[TrainingExample] = []

    def run() -> Iterator[Tidied]:
        examples.extend((yield from steps))

    [tidied] = run()
    assert (tidied.kept, tidied.read, tidied.counts["held out"]) == (1, 2, 1)
    assert len(examples) == 2 + 200 + 2
    assert [one.source for one in examples if one.weight == 0.3] == ["A cow sat.", "牛坐着。"]
    assert not UNREAD & {key(one.source) for one in examples}


def test_every_form_of_a_frame_has_the_same_slots() -> None:
    for frame in lists.frames():
        names = [frozenset(SLOT.findall(form)) for form in (*frame.en, *frame.zh)]
        assert len({*names}) == 1, frame
        assert names[0] <= examples.SLOTS.keys(), frame
        assert filled(frame, random.Random(1)) == filled(frame, random.Random(1))
        assert "{" not in "".join((*(made := filled(frame, random.Random(1))).en, *made.zh))


@pytest.mark.parametrize(
    ("word", "said"),
    [
        *(("Austrian", "an Austrian"), ("actor", "an actor"), ("Indian", "an Indian")),
        *(("European", "a European"), ("one", "a one"), ("onion", "an onion"), ("cat", "a cat")),
    ],
)
def test_an_article_agrees_with_the_word_in_the_slot(
    word: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(examples.SLOTS, "word", lambda chance: lists.copied(word))
    frame = lists.Said(("He is a {word}.",), ("他是{word}。",))
    assert filled(frame, random.Random(1)).en[0] == f"He is {said}."


def test_lists_are_of_both_languages() -> None:
    for said in (*lists.phrases(), *lists.words()):
        assert not HAN.search("".join(said.en)), said
        assert all(HAN.search(form) for form in said.zh if form != "AI"), said


def test_a_line_that_is_no_pair_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "names.txt").write_text("# names\n[person]\nTom: 汤姆\n", "utf-8")
    monkeypatch.setattr(lists, "HERE", tmp_path)
    with pytest.raises(ValueError, match=r"names.txt, line 3: .*Tom: 汤姆"):
        lists._sections("names.txt")


def test_a_hashtag_is_no_comment() -> None:
    tags = [frame for frame in lists.frames() if frame.en[0].startswith("#")]
    assert tags
    assert all(frame.en == frame.zh and " " not in frame.en[0] for frame in tags)


def test_dates_are_the_same_day() -> None:
    for said in drawn(quantities.date):
        en = datetime.strptime(said.en[0], "%B %d, %Y")
        assert en == datetime.strptime(said.en[1], "%d %B %Y")
        assert en == datetime.strptime(said.en[3], "%b %d, %Y")
        assert en == datetime.strptime(said.zh[0], "%Y年%m月%d日")
        assert {said.en[4]} & {*said.zh} == {en.strftime("%Y-%m-%d")}


@pytest.mark.parametrize(
    ("number", "said"),
    [
        *((0, "零"), (7, "七"), (10, "十"), (12, "十二"), (20, "二十"), (45, "四十五")),
        *((100, "一百"), (105, "一百零五"), (110, "一百一十"), (119, "一百一十九")),
        *((200, "二百"), (1000, "一千"), (1001, "一千零一"), (1010, "一千零一十")),
        *((2222, "两千二百二十二"), (10_000, "一万"), (20_500, "两万零五百")),
    ],
)
def test_numbers_are_said_as_in_chinese(number: int, said: str) -> None:
    assert quantities.digits(number) == said


def test_sums_are_right() -> None:
    for said in drawn(quantities.sum_):
        assert said.en == said.zh
        left, right = said.en[0].replace("×", "*").replace("÷", "/").split("=")
        if "?" not in right:
            assert eval(left) == int(right), said  # digits and signs of our own


def test_large_numbers_are_equal() -> None:
    units = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "万": 1e4, "亿": 1e8}
    for said in drawn(quantities.bignumber):
        values = set()
        for form in (said.en[0], said.zh[0]):
            number, unit = re.fullmatch(r"([\d.]+) ?(\D*)", form.replace(",", "")).groups()  # type: ignore[union-attr]
            values.add(round(float(number) * units.get(unit, 1)))
        assert len(values) == 1, said


@pytest.mark.parametrize("slot", ["decimal", "phone", "sum", "unheard", "url", "email", "file"])
def test_what_is_copied_is_the_same_on_both_sides(slot: str) -> None:
    assert all(said.en == said.zh for said in drawn(examples.SLOTS[slot]))


@pytest.mark.parametrize("slot", ["integer", "money", "percent", "length", "weight", "temperature"])
def test_amounts_have_the_same_digits(slot: str) -> None:
    for said in drawn(examples.SLOTS[slot]):
        en, zh = (re.sub(r"[^\d.]", "", side[0]) for side in (said.en, said.zh))
        assert en == zh, said


def test_times_are_the_same() -> None:
    for said in drawn(quantities.time):
        en = [int(part) for part in re.findall(r"\d+", said.en[0])]
        zh = [int(part) for part in re.findall(r"\d+", said.zh[0])]
        assert en == zh, said
        late = any(part in said.zh[0] for part in ("下午", "晚上"))
        assert late == ("p.m." in said.en[0]), said


def test_marks_are_dropped_from_that_share_of_sources_alone() -> None:
    examples = [TrainingExample(f"Cat {n}.", "猫。", "zh") for n in range(2000)]
    made = unmark(examples, 0.33, 1)
    dropped = [one for one in made if not FINAL.search(one.source)]
    assert 0.3 < len(dropped) / len(made) < 0.36
    assert {one.target for one in made} == {"猫。"}
    assert made == unmark(examples, 0.33, 1)
    assert unmark(examples, 0, 1) == examples
