"""When a model is unsure: the measure against brute force on tiny cases, and what a bundle says."""

import itertools
import json
import random
import shutil
from pathlib import Path

import pytest
import torch

from model.adapters.encoder_decoder.encoder_decoder_adapter import load
from model.bundle import model_card
from model.bundle.measurements import CERTAINTY
from model.errors import FileError
from model.measure import certainty
from model.measure.certainty import (
    best_temperature,
    calibration_error,
    confidences,
    in_common,
    right_words,
)
from model.measure.scores import GATE
from model.measure.untranslated import marked, threshold
from model.measure.word_alignment import spelled, word_groups

SHIPPED = Path("model/checkpoints/en-zh")


def longest(written: str, reference: str) -> int:
    """Return the length of the longest common subsequence, by trying every subsequence."""
    common = (
        len(chosen)
        for size in range(len(written) + 1)
        for chosen in itertools.combinations(written, size)
        if is_within(chosen, reference)
    )
    return max(common)


def is_within(part: tuple[str, ...], whole: str) -> bool:
    rest = iter(whole)
    return all(letter in rest for letter in part)


def test_right_words_are_a_longest_common_subsequence() -> None:
    chance = random.Random(0)
    for _ in range(300):
        written, reference = (
            "".join(chance.choice("abc") for _ in range(chance.randrange(8))) for _ in range(2)
        )
        right = in_common(written, reference)
        common = tuple(letter for letter, is_right in zip(written, right, strict=True) if is_right)
        assert is_within(common, reference)
        assert len(common) == longest(written, reference), (written, reference)


def test_the_reference_with_most_in_common_counts() -> None:
    assert right_words(["a", "b"], [["b"], ["a", "x", "b"]]) == [True, True]
    assert right_words(["a"], [["b"], []]) == [False]


def test_the_threshold_is_the_smallest_that_marks_enough() -> None:
    chance = random.Random(1)
    for _ in range(100):
        size = chance.randrange(1, 12)
        values = [round(chance.random(), 2) for _ in range(size)]
        wrong = [True] + [chance.random() < 0.5 for _ in range(size - 1)]
        limit = threshold(values, wrong)
        recalls = {value: marked(values, wrong, value)["recall"] for value in values}
        assert limit == min(value for value, recall in recalls.items() if recall >= 0.666)


def test_marks_are_counted() -> None:
    assert marked([0.1, 0.2, 0.3, 0.4], [True, False, True, True], 0.3) == {
        "count": 4,
        "wrong": 0.75,
        "marked": 0.75,
        "precision": 0.667,
        "recall": 0.667,
    }


def test_calibration_error_by_hand() -> None:
    # Bins of width 1/15: two rows near 0.5 of which one is right, one at 0.9 that is wrong.
    confidence = torch.tensor([0.5, 0.52, 0.9])
    error = calibration_error(confidence, torch.tensor([True, False, False]))
    assert error == pytest.approx((abs(1.02 - 1) + 0.9) / 3, abs=1e-6)
    assert calibration_error(torch.tensor([1.0, 1.0]), torch.tensor([True, True])) == 0


def test_a_temperature_is_found_again() -> None:
    """Labels drawn from softmax(logits / 1.4) are calibrated at 1.4."""
    torch.manual_seed(0)
    logits = torch.randn(40_000, 5) * 3
    labels = torch.multinomial((logits / 1.4).softmax(-1), 1)[:, 0]
    grid = (0.8, 1.0, 1.2, 1.4, 1.6)
    found = confidences(logits, grid)
    for column, heat in enumerate(grid):
        torch.testing.assert_close(found[:, column], (logits / heat).softmax(-1).max(-1).values)
    best = best_temperature(found, logits.argmax(-1) == labels, grid)
    assert best["temperature"] == 1.4
    assert best["error_at_temperature"] < 0.01 < best["error"]


def test_words_are_grouped_as_on_the_page() -> None:
    tokenizer = load(SHIPPED.resolve(), "cpu", measured=False).tokenizer
    for text, words in {
        "The trophy wouldn't fit.": ["the", "trophy", "wouldn't", "fit", "."],
        "我爱Zorblax。": ["我", "爱", "zorblax", "。"],
        "I, too.": ["i", ",", "too", "."],
    }.items():
        tokens = tokenizer.encode(text)
        assert [spelled(text, tokens, group) for group in word_groups(tokens)] == words


def test_measuring_a_bundle(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    shutil.copytree(SHIPPED, bundle, ignore=shutil.ignore_patterns("learning*", "corpus*"))
    dev = tmp_path / "dev.tsv"
    dev.write_text(
        "I love you.\t我爱你。\nasdf qwer\t甲乙\nThe cat sleeps.\t猫睡觉。\n", encoding="utf-8"
    )
    measured = certainty.write_certainty(bundle, {"own": dev}, 3, GATE)
    assert json.loads((bundle / CERTAINTY).read_text(encoding="utf-8")) == measured
    assert [row["direction"] for row in measured["sets"]] == ["en-zh", "zh-en"]
    assert measured["words"]["recall"] >= 0.666
    info = load(bundle, "cpu").info
    assert info.certainty is not None
    assert info.certainty.word == measured["word"]
    assert info.certainty.temperature == measured["calibration"]["temperature"]
    assert dict(info.certainty.unlike) == measured["unlike"]
    assert info.certainty.source == measured["source"]
    kept = certainty.write_certainty(bundle, {"own": dev}, 2, None, ["nonsense"])
    assert {name: kept[name] for name in ("word", "gate", "untranslated")} == {
        name: measured[name] for name in ("word", "gate", "untranslated")
    }
    assert [row["dev"]["count"] for row in kept["nonsense"]] == [2, 2]
    card = model_card._certainty(bundle / CERTAINTY, info.digest)
    assert "not translated" in card
    assert "nonsense" in card


def test_figures_of_other_weights_are_measured_again(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    shutil.copytree(SHIPPED, bundle, ignore=shutil.ignore_patterns("learning*", "corpus*"))
    (bundle / CERTAINTY).write_text('{"digest": "0", "text": 0.5}', encoding="utf-8")
    with pytest.raises(ValueError, match="measure the part 'words' too"):
        certainty.write_certainty(bundle, {}, 2, None, ["nonsense"])


def test_the_shipped_figures_reach_both_goals() -> None:
    measured = json.loads((SHIPPED / CERTAINTY).read_text(encoding="utf-8"))
    assert measured["words"]["precision"] >= 0.5
    assert measured["words"]["recall"] >= 0.666
    assert measured["calibration"]["error_at_temperature"] <= 0.03
    assert measured["untranslated"]["words"]["precision"] >= 0.66
    for row in measured["nonsense"]:
        assert row["nonsense"]["either"] >= 0.8 > 0.7 > row["dev"]["either"]
    assert load(SHIPPED.resolve(), "cpu").info.certainty


def test_figures_of_other_weights_are_refused(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    shutil.copytree(SHIPPED, bundle)
    path = bundle / CERTAINTY
    measured = json.loads(path.read_text(encoding="utf-8")) | {"digest": "0"}
    path.write_text(json.dumps(measured), encoding="utf-8")
    with pytest.raises(FileError, match="measure certainty"):
        load(bundle, "cpu")
