"""Back-translation: a model makes up sources for what people wrote, and a run learns from them."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from model.adapters import load
from model.train.__main__ import main as train
from model.train.back import main
from model.train.pairs import read_back
from tests.model.counting import SHAPE, words

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
    # What comes out as the pair has it adds nothing, so it must not come back.
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
    main(["model/checkpoints/en-zh", "--train", str(given), "--out", str(out)])
    assert read_back(out) == wanted


def test_a_run_learns_to_write_what_people_wrote(
    data: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = [*data, *words("--raw --augment 0 --epochs 1000 --steps 1"), *SHAPE]
    rows = [("zh", "one five", "一五"), ("zh", "one six", "一六"), ("en", "one six", "六一")]
    back = written(tmp_path / "back.tsv", rows)

    def examples(name: str, *more: str) -> int:
        train([str(tmp_path / name), *line, *more])
        [told] = [line for line in capsys.readouterr().err.splitlines() if "examples" in line]
        return int(told.split(" parameters, ")[1].split(" examples")[0].replace(",", ""))

    plain = examples("plain")
    assert examples("both", "--back", str(back)) == plain + 3
    assert examples("one", "--back", str(back), "--one-way") == plain // 2 + 2
    with pytest.raises(ValueError, match=r"--back has rows of de, not \('en', 'zh'\)"):
        train([str(tmp_path / "c"), *line, "--back", str(written(back, [("de", "a", "b")]))])
    with pytest.raises(ValueError, match="line 1: 2 columns, not 3"):
        train([str(tmp_path / "d"), *line, "--back", str(written(back, [("a", "b")]))])
