"""Variants of a run: read from lines, trained, measured once, and compared."""

import json
from pathlib import Path

import pytest

from model.__main__ import main
from model.measure.training_variants import read_variants, side_by_side

SHAPE = "--d-model 32 --heads 2 --d-ff 64 --encoder-layers 1 --decoder-layers 1"


def test_lines_of_variants(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATA", "/data")
    text = "# why\n\nplain:\nless text : --train '$DATA/a b.tsv' --raw\n"
    assert read_variants(text) == {
        "plain": [],
        "less text": ["--train", "/data/a b.tsv", "--raw"],
    }
    with pytest.raises(ValueError, match="line 2 is not `name: options`: 'no colon'"):
        read_variants("a:\nno colon")
    with pytest.raises(ValueError, match="line 3 repeats the name: 'a-b'"):
        read_variants("a b: --raw\n\na-b:")


def test_seeds_of_a_variant_are_one_line() -> None:
    rows = [
        {"name": "a", "seed": 1, "parameters": 1000, "dev loss": 2.0, "bleu": 10.0},
        {"name": "a", "seed": 2, "parameters": 1000, "dev loss": 2.5, "bleu": 11.0},
        {"name": "b", "seed": 1, "parameters": 2000, "dev loss": 3.0},
    ]
    assert side_by_side(rows).splitlines() == [
        "|  | seeds | parameters | dev loss | bleu |",
        "| --- | --- | --- | --- | --- |",
        "| a | 2 | 1,000 | 2.25 ± 0.25 | 10.50 ± 0.50 |",
        "| b | 1 | 2,000 | 3.00 | – |",
    ]


def test_variants_are_trained_measured_and_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("one two\t一二\ntwo three\t二三\nthree\t三\n" * 4, encoding="utf-8")
    dev = tmp_path / "dev.tsv"
    dev.write_text("two\t二\nthree one\t三一\n", encoding="utf-8")
    lines = tmp_path / "lines.txt"
    lines.write_text("plain:\npre-norm: --norm pre\nwide: --d-ff 128\n")
    line = f"measure variants {tmp_path / 'runs'} {lines} --test some={pairs} --seeds 1 2 --"
    told = f"--raw --train {pairs} --dev {dev} --vocabulary 60 --augment 0 {SHAPE}"
    command = f"{line} {told} --steps 4 --every 4"
    main(command.split())
    first = capsys.readouterr().out
    header, _, *body = first.splitlines()
    assert header.split(" | ")[1:] == [
        *("seeds", "parameters", "tokens", "minutes", "dev loss", "some en-zh", "some zh-en |")
    ]
    cells = {line.split(" | ")[0].strip("| "): line.split(" | ")[1:] for line in body}
    assert list(cells) == ["plain", "pre-norm", "wide"]
    assert [row[0] for row in cells.values()] == ["2"] * 3
    sizes = [int(row[1].replace(",", "")) for row in cells.values()]
    # A wider feed-forward network has 2 · 32 + 1 more weights per unit in both stacks; two
    # final norms come with pre-norm.
    assert sizes[2] - sizes[0] == 2 * 64 * 65
    assert sizes[1] - sizes[0] == 2 * 2 * 32
    assert all("–" not in row[-1] for row in cells.values())
    kept = tmp_path / "runs" / "plain-2" / "row.json"
    held = json.loads(kept.read_text())
    assert held["row"]["seed"] == 2
    held["row"]["dev loss"] = 99.0
    kept.write_text(json.dumps(held))
    main(command.split())
    again = capsys.readouterr().out
    assert again.splitlines()[3:] == first.splitlines()[3:]
    assert "± " in again.splitlines()[2]
    assert again != first
    with pytest.raises(ValueError, match=r"plain-1 has a run with .*'steps': 4.*not .*'steps': 5"):
        main(command.replace("--steps 4", "--steps 5").split())
