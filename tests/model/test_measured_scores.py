"""Figures: measured by sacreBLEU, kept while the weights are the same."""

import json
import shutil
from pathlib import Path

from model.__main__ import main
from model.adapters.encoder_decoder.encoder_decoder_adapter import load
from model.adapters.requests.request import Request
from model.train.synthetic_pairs import KINDS

PAIRS = "The cat sat.\t猫坐着。\nA dog barks!\t狗叫！\nTom has 2 cats.\t汤姆有2只猫。\n"
Rows = dict[str, list[dict[str, object]]]


def test_what_is_not_asked_for_is_kept(bundle: Path, tmp_path: Path) -> None:
    folder, tsv = tmp_path / "tiny", tmp_path / "set.tsv"
    shutil.copytree(bundle, folder)
    tsv.write_text(PAIRS, "utf-8")
    (folder / "sentences.txt").write_text("A dog sat.\n狗坐着。\n", "utf-8")

    def measured(*asked: str) -> Rows:
        main(["measure", "scores", str(folder), "--jobs", "1", *asked])
        found: Rows = json.loads((folder / "figures.json").read_text())
        return found

    first = measured("--test", f"mine={tsv}")
    assert [(row["direction"], row["method"], row["sentences"]) for row in first["scores"]] == [
        (direction, method, 3) for direction in ("en-zh", "zh-en") for method in ("greedy", "beam")
    ]
    adapter = load(folder, "cpu")
    assert [row["greedy"] for row in first["sentences"]] == [
        adapter.trace(Request(str(row["source"]))).output.text for row in first["sentences"]
    ]
    assert first["typed"] == []
    second = measured("--typed", str(tsv))
    assert second["scores"] == first["scores"]
    assert {(row["kind"], row["direction"]) for row in second["typed"]} == {
        (kind.__name__, direction) for kind in KINDS for direction in ("en-zh", "zh-en")
    }
    one_way = measured("--test", f"mine={tsv}", "--one-way")
    assert one_way["scores"] == first["scores"][:2]
    assert one_way["typed"] == second["typed"]
    (folder / "figures.json").write_text(json.dumps({**second, "digest": "of others"}))
    assert measured("--typed", str(tsv))["scores"] == []
