"""The command `headlight`."""

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner, Result
from safetensors.numpy import load_file

import headlight
from headlight import command, display, doctor, other_headlight_package
from headlight.doctor import examine
from headlight.other_headlight_package import warn_of_namesake
from tests.servers import ROOT

TEXT = "The cat sat."
SVG = "{http://www.w3.org/2000/svg}"


def call(*arguments: str | Path) -> Result:
    return CliRunner().invoke(command.headlight, list(map(str, arguments)))


def told(*arguments: str | Path) -> Any:
    result = call(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_a_picture_has_the_numbers_of_the_head_that_is_named(tmp_path: Path) -> None:
    path = tmp_path / "cat.svg"
    done = told("show", TEXT, "--block", "cross", "--layer", "2", "--head", "3", "-o", path)
    assert done == {"files": [str(path)]}
    drawing = ElementTree.fromstring(path.read_bytes())
    texts = [element.text for element in drawing.iter(f"{SVG}text")]
    assert texts[0] == "Layer 2, head 3 · cross-attention · English ↔ Chinese"
    assert texts[1:3] == [TEXT, "猫坐了。"]
    weights = np.asarray(headlight.load("en-zh").trace(TEXT)["decoder.1.cross.weights"])[2]
    numbers = [text for text in texts if text and re.fullmatch(r"[01]\.\d\d", text)]
    assert numbers == [f"{w:.2f}" for w in weights.ravel() if f"{w:.2f}" != "0.00"]
    assert len(list(drawing.iter(f"{SVG}rect"))) == weights.size + 3  # paper, frame, legend


def test_a_masked_cell_is_hatched_and_has_no_number(tmp_path: Path) -> None:
    told("show", TEXT, "--block", "decoder", "-o", tmp_path / "cat.svg")
    drawing = ElementTree.fromstring((tmp_path / "cat.svg").read_bytes())
    hatched = [one for one in drawing.iter(f"{SVG}rect") if one.get("fill") == "url(#masked)"]
    assert len(hatched) == 5 * 4 / 2 + 1  # above the diagonal of five tokens, and the legend
    assert "masked" in [element.text for element in drawing.iter(f"{SVG}text")]


def test_a_figure_opens_where_the_page_does(tmp_path: Path) -> None:
    """The head that aligns best, which the model's description names."""
    told("show", TEXT, "-o", tmp_path / "cat.svg")
    aligner = next(
        entry for entry in headlight.load("en-zh").info.aligners or () if entry.rows == "writes"
    )
    place = f"Layer {aligner.layer + 1}, head {aligner.head + 1} ·"
    assert place in (tmp_path / "cat.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(("form", "magic"), [("pdf", b"%PDF-"), ("png", b"\x89PNG")])
def test_chromium_prints_the_drawing(form: str, magic: bytes, tmp_path: Path) -> None:
    path = tmp_path / f"cat.{form}"
    told("show", TEXT, "-o", path)
    assert path.read_bytes().startswith(magic)


def test_without_chromium_a_pdf_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(display, "browser", lambda: None)
    result = call("show", TEXT, "-o", tmp_path / "cat.pdf")
    assert result.exit_code == 2
    assert "PDF is printed by Chromium, Chrome or Edge" in result.stderr
    assert ".svg or .html" in result.stderr


def test_tensors_are_written_as_they_are_in_python(tmp_path: Path) -> None:
    path = tmp_path / "cat.safetensors"
    told("trace", TEXT, "--select", "encoder.*.self.q", "-s", "*.mask", "-o", path)
    arrays = load_file(path)
    trace = headlight.load("en-zh").trace(TEXT, select=["encoder.*.self.q", "*.mask"])
    assert arrays.keys() == set(trace)
    for name, array in arrays.items():
        assert (array == np.asarray(trace[name])).all(), name


def test_a_trace_without_a_file_is_listed_or_printed() -> None:
    document = told("trace", TEXT, "-s", "encoder.0.self.weights")
    weights = document["tensors"]["encoder.0.self.weights"]
    assert weights["dims"] == ["head", "query", "key"]
    assert np.shape(weights["data"]) == tuple(weights["shape"])
    listed = call("trace", TEXT, "-s", "encoder.0.self.weights").stdout
    assert "encoder.0.self.weights  NamedTensor(head 8, query 6" in listed


def test_all_files_of_a_figure(tmp_path: Path) -> None:
    endings = ["html", "svg", "csv", "npz", "json", "safetensors"]
    options = ("--block", "cross", "--layer", "1", "--head", "2")
    done = told("export", TEXT, *options, "--as", ",".join(endings), "--out", tmp_path)
    name = "headlight-en-zh-attention-cross-layer-1-head-2"
    assert done["files"] == [str(tmp_path / f"{name}.{ending}") for ending in endings]
    weights = np.asarray(headlight.load("en-zh").trace(TEXT)["decoder.0.cross.weights"])
    text = (tmp_path / f"{name}.csv").read_bytes().decode("utf-8-sig")
    rows = [row for row in csv.DictReader(io.StringIO(text)) if row["tensor"].endswith("weights")]
    values = np.array([row["value"] for row in rows], dtype=np.float32).reshape(weights.shape)
    assert (values == weights).all()
    assert [row["key_token"].strip() for row in rows[:3]] == ["<2zh>", "The", "cat"]
    with np.load(tmp_path / f"{name}.npz") as arrays:
        assert (arrays["decoder.0.cross.weights"] == weights).all()


@pytest.mark.parametrize(
    ("arguments", "detail"),
    [
        (("show", TEXT, "-o", "cat.gif"), "cat.gif must end in one of: .html, .svg, .pdf, .png"),
        (("trace", TEXT, "-o", "cat.txt"), "cat.txt must end in one of: .safetensors, .json"),
        (("trace", TEXT, "-s", "nothing.*"), "select[0] names no tensor of the model"),
        (("trace", TEXT, "-m", "nowhere"), "nowhere: it is not a model bundle"),
        (("export", TEXT, "--as", "svg,doc"), "figure.doc must end in one of"),
        (("models", "nowhere"), "nowhere: it is not a model bundle"),
    ],
)
def test_a_bad_input_is_one_line(arguments: tuple[str, ...], detail: str, tmp_path: Path) -> None:
    result = call(*arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith("headlight: ")
    assert detail in result.stderr
    assert detail in json.loads(call(*arguments, "--json").stderr)["detail"]


def test_models_are_listed_and_described() -> None:
    assert told("models").items() >= {("en-zh", "en-zh"), ("en-zh-4-heads", "en-zh-4-heads")}
    described = told("models", "en-zh")
    assert described["parameters"] == headlight.load("en-zh").info.parameters
    assert "encoder.0.self          8 heads, padding" in call("models", "en-zh").stdout


def test_the_doctor_names_what_is_there_and_what_is_wrong(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HEADLIGHT_PORT", "0")
    monkeypatch.setenv("HEADLIGHT_DATA_DIR", str(tmp_path))
    entries = told("doctor")
    assert {entry["subject"] for entry in entries} >= {"python", "torch", "cpu", "fonts", "port"}
    monkeypatch.setenv("HEADLIGHT_DATA_DIR", "/dev/null/data")
    monkeypatch.setattr(doctor, "browser", lambda: None)
    levels = {finding.subject: finding.level for finding in examine()}
    assert (levels["data"], levels["browser"]) == ("problem", "note")
    result = call("doctor")
    assert result.exit_code == 1
    assert "✗ data" in result.stdout


def test_the_other_distribution_of_this_name_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    class Other:
        version = "9.9"

    monkeypatch.setattr(other_headlight_package, "distribution", lambda _: Other)
    with pytest.warns(UserWarning, match=r"headlight 9\.9 is installed.*another project"):
        warn_of_namesake()
    assert "✗ distribution" in call("doctor").stdout


def test_help_and_completion_need_no_pytorch() -> None:
    code = (
        "import sys; from headlight.command import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print({'torch', 'fastapi'} & {*sys.modules}, file=sys.stderr)"
    )
    for arguments in (["--help"], ["show", "--help"], ["completion", "bash"], ["models"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr == "set()\n"
        assert done.stdout


def test_a_shell_completes_models() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "headlight"],
        cwd=ROOT,
        env={
            "COMP_WORDS": "headlight show text --model en",
            "COMP_CWORD": "4",
            "_HEADLIGHT_COMPLETE": "bash_complete",
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["plain,en-zh", "plain,en-zh-4-heads"]


def test_what_the_package_offers_is_there_at_the_first_use() -> None:
    """The names are imported late; they are those of `headlight.public_names`."""
    code = (
        "import sys, headlight; assert 'torch' not in sys.modules\n"
        "from headlight import *; print(show is headlight.show, 'torch' in sys.modules)\n"
        "print('show' in dir(headlight), hasattr(headlight, 'nothing'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "True", "True", "False"]
