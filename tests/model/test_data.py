"""Preparation of pairs: read, cleaned, filtered, held out, augmented."""

import gzip
import random
from pathlib import Path

import pytest

from model.train.data import TrainingExample, both_ways, read_pairs
from model.train.metrics import TestSet, read_test_sets, score
from model.train.pair_cleaning import chinese, clean, english, unseen
from model.train.synthetic_pairs import (
    KINDS,
    Kind,
    augment,
    bracketed,
    chained,
    joined,
    named,
    numbered,
    paragraph,
    short,
)

BOTH = ("en", "zh")


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("“Who 's there ?” she asked .", '"Who\'s there?" she asked.'),
        ("We don 't know ``it'' …", 'We don\'t know "it" ...'),
        ("No way!.", "No way!"),
        ("Wait...", "Wait..."),
        ("zero\u200bwidth", "zerowidth"),
        ("It's a well-known fact - really.", "It's a well-known fact - really."),
        ("3,5 and 1:2 (see b).", "3,5 and 1:2 (see b)."),
    ],
)
def test_english(given: str, wanted: str) -> None:
    assert english(given) == wanted == english(wanted)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("你好,世界!", "你好，世界！"),
        ('他说: "走吧."', "他说：“走吧。”"),
        ("我 不 知道 .", "我不知道。"),
        ("等等...", "等等……"),
        ("等等⋯⋯", "等等……"),
        ("约翰(John)来了.", "约翰（John）来了。"),
        ("他用 Python 3.11 写的。", "他用 Python 3.11 写的。"),
        ("你好吗?", "你好吗？"),
    ],
)
def test_chinese(given: str, wanted: str) -> None:
    assert chinese(given) == wanted == chinese(wanted)


def test_cleaning_counts_changed_and_dropped_pairs() -> None:
    pairs = [
        ("The lamp is on.", "灯亮着。"),
        ("the lamp is on", "灯亮着"),  # equal except for marks and capitals
        ("The lamp is off.", "灯灭了"),  # a mark to add
        ("Nothing but Latin.", "Nothing here."),
        ("Chinese: 灯", "灯"),
        ("...", "。。。"),
        ("A rather long sentence that says very many things about lamps and light.", "灯"),
    ]
    kept, counts = clean(pairs, BOTH)
    assert kept == [("The lamp is on.", "灯亮着。"), ("The lamp is off.", "灯灭了。")]
    assert counts["repeated"] == counts["proportionate"] == 1
    assert counts["written"] == 3
    assert counts["ended"] == 2


def test_what_is_held_out_is_in_no_pair() -> None:
    pairs = [
        ("We have met.", "我们见过。"),
        ("So we met!", "我们碰过面！"),
        ("We met.", "我们见了。"),
    ]
    assert unseen(pairs, [("we have met", "我们碰过面")]) == pairs[2:]
    assert unseen(pairs, []) == pairs


def test_a_language_without_rules_is_ended_and_left_as_it_is() -> None:
    kept, _ = clean([("A dog .", "Ein Hund ."), ("A cat", "Eine Katze.")], ("en", "de"))
    assert kept == [("A dog.", "Ein Hund ."), ("A cat.", "Eine Katze.")]


def test_augmenting_is_seeded_and_keeps_translations() -> None:
    examples = both_ways(
        [("The cat.", "猫。"), ("A dog!", "狗！"), ("Tom ate 12.", "汤姆吃了12个。")], BOTH
    )
    made = augment(examples, 50.0, seed=1)
    assert len(made) == 300
    assert made == augment(examples, 50.0, seed=1) != augment(examples, 50.0, seed=2)
    assert TrainingExample("The cat. A dog!", "猫。狗！", "zh") in made
    sources = {example.source for example in made}
    assert {"the cat.", "the cat", "THE CAT.", "The cat", "猫."} <= sources
    assert not any("Tom" in e.source and "汤姆" not in e.target for e in made if e.language == "zh")


def test_names_and_numbers_change_on_both_sides() -> None:
    chance = random.Random(1)
    one = TrainingExample("Tom is 42.", "汤姆42岁了。", "zh")
    new = named(one, lambda: one, chance)
    assert new is not None
    assert "Tom" not in new.source
    assert "汤姆" not in new.target
    name = new.source.split()[0]
    assert name.isalpha()
    assert new.target == f"{name}42岁了。"
    new = numbered(one, lambda: one, chance)
    assert new is not None
    assert new.source != one.source
    assert new.source.split()[-1].rstrip(".") in new.target
    assert numbered(TrainingExample("I am 4.", "我四岁。", "zh"), lambda: one, chance) is None
    assert named(TrainingExample("Tom left.", "他走了。", "zh"), lambda: one, chance) is None


def test_short_sentences_come_again_as_people_type_them() -> None:
    chance = random.Random(1)
    one = TrainingExample("Good morning!", "早上好！", "zh")
    made = {short(one, lambda: one, chance) for _ in range(50)}
    typed = {"Good morning", "good morning", "good morning!"}
    assert {new.source for new in made if new} == typed
    assert {new.target for new in made if new} == {"早上好！"}
    assert short(TrainingExample("早上好！", "Good morning!", "en"), lambda: one, chance)
    assert short(TrainingExample("我看见了。", "I saw it.", "en"), lambda: one, chance) is None


def test_sentences_stand_beside_each_other_as_each_language_has_it() -> None:
    one, two = TrainingExample("Stop.", "停。", "zh"), TrainingExample("Go.", "走。", "zh")
    chance = random.Random(1)
    made = {joined(one, lambda: two, chance) for _ in range(50)}
    assert made == {
        TrainingExample("Stop." + " Go." * n, "停。" + "走。" * n, "zh") for n in (1, 2, 3)
    }
    made = {paragraph(one, lambda: two, chance) for _ in range(80)}
    assert made == {
        TrainingExample("Stop." + " Go." * n, "停。" + "走。" * n, "zh") for n in (4, 5, 6, 7)
    }
    quoted = TrainingExample("“Go.”", "“走吧。”", "zh")
    new = joined(quoted, lambda: two, random.Random(1))
    assert new
    assert new.target.startswith("“走吧。”走。")
    assert all(kind.__doc__ for kind in KINDS)


def made_of(kind: Kind, one: TrainingExample, two: TrainingExample) -> set[TrainingExample | None]:
    chance = random.Random(1)
    return {kind(one, lambda: two, chance) for _ in range(200)}


def test_brackets_stand_where_each_language_has_them() -> None:
    one, two = ("Is he in?", "他在吗？"), ("It's late.", "晚了。")
    en = made_of(bracketed, TrainingExample(*one, "zh"), TrainingExample(*two, "zh"))
    assert en == {
        TrainingExample("Is he in (it's late)?", "他在吗（晚了）？", "zh"),
        TrainingExample("Is he in [it's late]?", "他在吗[晚了]？", "zh"),
        TrainingExample("(it's late) Is he in?", "（晚了）他在吗？", "zh"),
        TrainingExample("[it's late] Is he in?", "[晚了]他在吗？", "zh"),
    }
    zh = made_of(bracketed, TrainingExample(*one[::-1], "en"), TrainingExample(*two[::-1], "en"))
    typed = {("（", "）", "(", ")"), ("(", ")", "(", ")")}
    typed |= {("[", "]", "[", "]"), ("【", "】", "[", "]")}
    assert zh == {
        TrainingExample(*sides, "en")
        for a, b, c, d in typed
        for sides in (
            (f"他在吗{a}晚了{b}？", f"Is he in {c}it's late{d}?"),
            (f"{a}晚了{b}他在吗？", f"{c}it's late{d} Is he in?"),
        )
    }


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("Tom left.", "汤姆走了。"),  # a name, or a word at the start of a sentence?
        ("We all went home together at six.", "我们都回家了。"),  # too long
        ("Come in.", "Come in."),  # not Chinese
        ("!", "！"),  # nothing to put into brackets
    ],
)
def test_what_cannot_stand_inside_a_sentence_is_left_out(source: str, target: str) -> None:
    one, two = TrainingExample("I see.", "我明白。", "zh"), TrainingExample(source, target, "zh")
    assert made_of(bracketed, one, two) == made_of(chained, one, two) == {None}


def test_short_texts_are_joined_by_a_comma() -> None:
    one, two = ("Hi!", "你好！"), ("I am Li.", "我姓李。")
    zh = made_of(chained, TrainingExample(*one, "zh"), TrainingExample(*two, "zh"))
    assert zh == {TrainingExample("Hi, I am Li.", "你好，我姓李。", "zh")}
    en = made_of(chained, TrainingExample(*one[::-1], "en"), TrainingExample(*two[::-1], "en"))
    assert en == {TrainingExample(f"你好{mark}我姓李。", "Hi, I am Li.", "en") for mark in ",，"}
    question = TrainingExample("Are you in?", "你在吗？", "zh")
    asked = made_of(chained, TrainingExample(*one, "zh"), question)
    assert asked == {TrainingExample("Hi, are you in?", "你好，你在吗？", "zh")}


def test_reading_pairs(tmp_path: Path) -> None:
    plain = tmp_path / "a.tsv"
    plain.write_text("7\tHi  there.\t你好。\n\t \nA\t一\n", encoding="utf-8")
    packed = tmp_path / "a.tsv.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert read_pairs(plain) == read_pairs(packed) == [("Hi there.", "你好。"), ("A", "一")]
    plain.write_text("one column\n")
    with pytest.raises(ValueError, match="line 1 has 1 columns"):
        read_pairs(plain)


def test_test_sets_group_their_references(tmp_path: Path) -> None:
    path = tmp_path / "test.tsv"
    rows = ["0\tHi.\t你好吗？", "0\tHello.\t你好吗？", "0\tHi.\t您好吗？", "1\tNo, no.\t不，不。"]
    path.write_text("\n".join(rows) + "\n", "utf-8")
    to_zh, to_en = read_test_sets(path)
    assert to_zh == TestSet(
        "en-zh",
        ("Hi.", "Hello.", "No, no."),
        (("你好吗？", "您好吗？"), ("你好吗？", "您好吗？"), ("不，不。",)),
    )
    assert to_en.sources == ("你好吗？", "您好吗？", "不，不。")
    assert to_en.references[0] == ("Hi.", "Hello.")
    perfect = score(to_zh, ["您好吗？", "你好吗？", "不，不。"])
    assert perfect["bleu"] == pytest.approx(100)
    assert "tok:zh" in str(perfect["bleu_signature"])
    assert score(to_zh, ["错"] * 3)["bleu"] == 0
