"""The card's figures are those of the shipped weights."""

import json
import re
import shutil
from pathlib import Path

import pytest

from model.adapters.encoder_decoder.encoder_decoder_adapter import load
from model.bundle.model_card import TEMPLATE, card
from model.bundle.weights import CHECKPOINTS, digest_of
from model.measure.heads_report import page
from model.measure.scores import sentences

BUNDLES = sorted(path.parent for path in CHECKPOINTS.glob("*/config.json"))


@pytest.fixture(params=BUNDLES, ids=lambda path: path.name)
def shipped(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


def test_a_model_is_shipped() -> None:
    assert CHECKPOINTS / "en-zh" in BUNDLES


def test_the_figures_are_of_these_weights(shipped: Path) -> None:
    digest = digest_of(shipped)
    figures = json.loads((shipped / "figures.json").read_text())
    text = (shipped / "README.md").read_text()
    assert figures["digest"] == digest
    assert digest in text
    assert {(row["direction"], row["method"]) for row in figures["scores"]} == {
        (direction, method) for direction in ("en-zh", "zh-en") for method in ("greedy", "beam")
    }
    for row in figures["scores"]:
        cells = [row["set"], row["direction"], row["method"], str(row["sentences"])]
        assert f"| {' | '.join(cells)} | {row['bleu']:.2f} | {row['chrf']:.2f} |" in text
        assert row["bleu_signature"] in text


def test_the_card_is_what_the_command_writes(shipped: Path) -> None:
    assert (shipped / "README.md").read_text() == card(shipped)


def test_the_report_is_what_the_command_writes(shipped: Path) -> None:
    report = json.loads((shipped / "report.json").read_text())
    assert report["digest"] == digest_of(shipped)
    assert (shipped / "REPORT.md").read_text() == page(report)


def test_the_sentences_come_out_as_the_card_says(shipped: Path) -> None:
    figures = json.loads((shipped / "figures.json").read_text())
    adapter = load(shipped, "cpu")
    made = sentences(shipped, adapter)
    assert len(made) >= 20
    same = sum(one == other for one, other in zip(made, figures["sentences"], strict=True))
    assert same >= len(made) - 1  # another processor may round a near tie differently


def test_it_is_small_enough(shipped: Path) -> None:
    adapter = load(shipped, "cpu")
    assert adapter.info.parameters <= 16_000_000
    assert sum(path.stat().st_size for path in shipped.iterdir()) <= 32 * 2**20


@pytest.mark.parametrize("readme", ["README.md", "README.zh.md"])
def test_the_readmes_quote_the_figures(readme: str) -> None:
    text = (CHECKPOINTS.parents[1] / readme).read_text()
    for bundle in BUNDLES:
        figures = json.loads((bundle / "figures.json").read_text())
        into, from_chinese = (
            f"{row['bleu']:.1f}"
            for row in figures["scores"]
            if row["set"] == "tatoeba-en-zh" and row["method"] == "beam"
        )
        assert re.search(rf"{into} .*{from_chinese} BLEU", text)


@pytest.mark.parametrize(
    ("text", "says"), [("$hour hours", r"\$hour is not one of"), ("3 $", r"\$\$")]
)
def test_a_template_that_asks_for_what_is_not_known_says_so(
    tmp_path: Path, shipped: Path, text: str, says: str
) -> None:
    bundle = Path(shutil.copytree(shipped, tmp_path / "bundle"))
    (bundle / TEMPLATE).write_text(text)
    with pytest.raises(ValueError, match=says):
        card(bundle)
