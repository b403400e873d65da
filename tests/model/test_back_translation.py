"""Back-translation: a model generates sources for human sentences, and a run learns from them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from model.__main__ import main
from model.adapters.encoder_decoder.encoder_decoder_adapter import load
from model.train.data import Corpus, TrainingExample, read_back
from tests.model.counting import SHAPE, train, words

PAIRS = [
    ("The book on the table is mine.", "桌上的书是我的。"),
    ("Tables.", "桌子。"),
    ("The table.", "桌子。"),
]


def written(path: Path, rows: Sequence[tuple[str, ...]]) -> Path:
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_both_sides_get_sources_that_the_model_makes_up(tmp_path: Path) -> None:
    shipped = load("en-zh")
    # A translation equal to the pair's adds nothing, so it must be left out.
    pairs = [*PAIRS, ("I know.", shipped.trace("I know.").output.text)]
    wanted = []
    for side, language in enumerate(("en", "zh")):
        for text in dict.fromkeys(pair[side] for pair in pairs):
            other = shipped.trace(text).output.text
            pair = (other, text) if side else (text, other)
            wanted += [(language, pair)] if pair not in pairs else []
    assert {language for language, _ in wanted} == {"en", "zh"}
    assert ("en", pairs[-1]) not in wanted

    out = tmp_path / "back.tsv"
    given = written(tmp_path / "pairs.tsv", pairs)
    main(["back-translate", "model/checkpoints/en-zh", "--train", str(given), "--out", str(out)])
    assert read_back(out) == wanted
    assert not [*tmp_path.glob("*.partial")]


def test_a_run_learns_to_write_what_people_wrote(
    data: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[TrainingExample]] = []

    def corpus(examples: list[TrainingExample], *rest: Any) -> Corpus:
        seen.append(examples)
        return Corpus(examples, *rest)

    monkeypatch.setattr("model.train.run.Corpus", corpus)
    line = [*data, *words("--raw --augment 0 --epochs 1000 --steps 1"), *SHAPE]
    # Longer than any sentence of the data, so that the model can learn them only here.
    to_zh = TrainingExample("one five six two one", "一五六二一", "zh")
    to_en = TrainingExample("六一五二三", "six one five two three", "en")
    rows = [("zh", to_zh.source, to_zh.target), ("en", to_en.target, to_en.source)]
    back = written(tmp_path / "back.tsv", rows)

    def examples(name: str, *more: str) -> list[TrainingExample]:
        seen.clear()
        train([str(tmp_path / name), *line, *more])
        return seen[0]

    plain = examples("plain")
    # One direction only: from generated text to human text.
    assert examples("both", "--back", str(back)) == [*plain, to_en, to_zh]
    one_way = [example for example in plain if example.language == "zh"]
    assert examples("one", "--back", str(back), "--one-way") == [*one_way, to_zh]
    with pytest.raises(ValueError, match=r"--back has rows of de, not \('en', 'zh'\)"):
        train([str(tmp_path / "c"), *line, "--back", str(written(back, [("de", "a", "b")]))])
    with pytest.raises(ValueError, match="line 1 has 2 columns, not 3"):
        train([str(tmp_path / "d"), *line, "--back", str(written(back, [("a", "b")]))])
