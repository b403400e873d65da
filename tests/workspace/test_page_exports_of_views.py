"""Every view in every format that its menu offers: saved, and read again."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from playwright.sync_api import expect

from tests.browsing.workspace import Workspace
from tests.shipped_head_counts import IN_ALL
from tests.views.test_page_numbers import SENTENCE, TARGET
from tests.workspace.test_page_export import arrays_of, save

OFF = {"at": "decoder.1.cross", "head": 2, "do": "zero"}
PLACE: dict[str, Any] = {
    "source": SENTENCE, "target": TARGET, "block": "cross", "layer": 1, "head": 2
}  # fmt: skip
CHANGED = {"interventions": json.dumps([OFF])}
# Each view, in each of its modes.
SHOWN: dict[str, dict[str, Any]] = {
    "decoding": {"view": "decoding"},
    "heads": {"view": "heads"},
    "feed-forward": {"view": "feed-forward", "block": "encoder"},
    "attention": {"view": "attention"},
    "lines": {"view": "lines"},
    "worksheet": {"view": "worksheet"},
    "alignment": {"view": "alignment"},
    "compare": {"view": "compare", "other": "sentence"},
    "inside": {"view": "inside"},
    "contrast": {"view": "inside", "query": 3, "contrast": "runner-up"},
    "qkv": {"view": "qkv"},
    "terms": {"view": "qkv", "terms": 1, "query": 3, "key": 2},
    "space": {"view": "space"},
    "likeness": {"view": "positions", "part": "likeness", "length": 40, "width": 64},
    "shuffle": {"view": "positions", "part": "shuffle"},
    "flow": {"view": "flow"},
    "training": {"view": "training"},
    "sweep": {"view": "whatif", "effect": "heads", **CHANGED},
    "tokens": {"view": "whatif", "effect": "tokens", **CHANGED},
    "runs": {"view": "whatif", "effect": "runs", "kept": [{"source": "Hi."}], **CHANGED},
}
PARTS = 4  # which processes of the tests share
AXES = [
    "layer", "head", "station", "query", "key", "query_term", "key_term", "channel", "feature",
    "hidden", "rank", "vocab",
]  # fmt: skip
KINDS = """() => Object.fromEntries([...document.querySelectorAll("button.export-kind")].map(
    (choice) => [choice.querySelector("b").textContent, !choice.disabled]))"""
DRAWN = {"sweep": f".head-map[data-drawn='{IN_ALL}']"}


def visit(workspace: Workspace, name: str) -> None:
    """Open a view and wait for all of it."""
    workspace.page.keyboard.press("Escape")
    workspace.go(**PLACE | SHOWN[name])
    workspace.settled()
    workspace.drawn()
    if name in DRAWN:
        expect(workspace.find(DRAWN[name])).to_be_visible()


def numbers_of(file: Path) -> dict[str, NDArray[Any]]:
    """Return a CSV's tensors, with sizes from their largest indices."""
    names, *rows = csv.reader(io.StringIO(file.read_text("utf-8-sig"), newline=""))
    assert rows
    columns = {
        names.index(name)
        for name in names
        if name not in ("tensor", "value") and "_token" not in name
    }
    tensor, value = names.index("tensor"), names.index("value")
    by_tensor: dict[str, list[list[str]]] = {}
    for row in rows:
        by_tensor.setdefault(row[tensor], []).append(row)
    found: dict[str, NDArray[Any]] = {}
    for name, own in by_tensor.items():
        dims = sorted(column for column in columns if own[0][column] != "")
        at = np.array([[int(row[column]) for column in dims] for row in own])
        found[name] = np.full(at.max(axis=0) + 1, np.nan)
        found[name][tuple(at.T)] = [float(row[value]) for row in own]
    return found


def plotted(workspace: Workspace) -> list[NDArray[Any]]:
    """Return the values of the visible charts."""
    return [chart.values for chart in workspace.charts()]


def check_picture(file: Path) -> None:
    with Image.open(file) as image:
        image.load()
        assert min(image.size) >= 100
        colours = image.convert("RGB").getcolors(1 << 24) or []
    most = max(count for count, _ in colours) / sum(count for count, _ in colours)
    assert len(colours) > 20, "blank"
    assert most < 0.995, "next to nothing is drawn"


HEATMAPS = {
    "attention", "compare", "heads", "qkv", "terms", "likeness", "shuffle", "training", "inside",
    "contrast",
}  # fmt: skip


def check_heatmap(file: Path) -> None:
    """Check for a rectangle per cell, labels, a legend and highlights."""
    root = ElementTree.parse(file).getroot()
    name = "{http://www.w3.org/2000/svg}"
    parts = {part.get("data-part") for part in root.iter(f"{name}g")}
    assert {"cells", "lit", "legend"} <= parts
    grids = [part for part in root.iter(f"{name}g") if part.get("data-part") == "cells"]
    assert all(len(grid) > 20 for grid in grids)
    assert root.find(f".//{name}image") is None


def check_drawing(file: Path) -> None:
    root = ElementTree.parse(file).getroot()
    name = "{http://www.w3.org/2000/svg}"
    assert root.tag == f"{name}svg"
    inner = root.findall(f".//{name}svg")
    assert inner, "no picture under the words"
    assert len(list(inner[0].iter())) > 5


Numbers = dict[str, NDArray[Any]]


def check_nothing(_: Workspace, __: Numbers) -> None:
    """Check nothing more than that the formats agree."""


def check_plotted(workspace: Workspace, found: Numbers) -> None:
    for numbers, shown in zip(found.values(), plotted(workspace), strict=False):
        np.testing.assert_allclose(numbers, shown, atol=1e-6)


def check_flow(workspace: Workspace, found: Numbers) -> None:
    text = workspace.find(".finding").inner_text()
    said = [float(number) for number in re.findall(r"(?:rollout|flow) ([\d.]+)\b", text)]
    (chosen,) = (name for name in found if name.startswith("flow."))
    top = int(chosen.removeprefix("flow."))
    both = np.stack([found["rollout"][top], found[chosen]], axis=1)
    assert (abs(both - said) < 5.1e-5).all(axis=1).any(), said
    assert found["length"].shape == found["cosine"].shape


def check_sweep(workspace: Workspace, found: Numbers) -> None:
    cell = workspace.find('.head-map [data-name="decoder.1.cross 2"] text').text_content() or ""
    delta = found["decoder.1.cross.delta"][2].sum()
    assert delta == pytest.approx(float(cell.replace("−", "-")), abs=0.00501)
    assert not any(np.isnan(one).any() for one in found.values())


def check_contrast(workspace: Workspace, found: Numbers) -> None:
    """What is shown of the pinned row: the parts of its log-odds, and their sum."""
    prefix = "inside.contrast.runner-up"
    parts = ("self", "cross", "ffn", "bias", "norm", "embedding", "position")
    together = sum(found[f"{prefix}.{part}"][..., 3].sum() for part in parts)
    assert together == pytest.approx(found[f"{prefix}.total"][3], abs=1e-4)
    shown = workspace.find(".ledger-sums .all").inner_text().replace("−", "-")
    assert together == pytest.approx(float(shown), abs=0.00501)
    gradient = found[f"{prefix}.3.decoder.1.cross"][2]
    np.testing.assert_allclose(gradient, plotted(workspace)[1], atol=1e-6)


# The file has the numbers of the page.
CHECKS = {
    "flow": check_flow,
    "sweep": check_sweep,
    "contrast": check_contrast,
    "compare": check_plotted,
    "shuffle": check_plotted,
}


@pytest.mark.parametrize("part", range(PARTS))
def test_every_view_in_every_format(workspace: Workspace, tmp_path: Path, part: int) -> None:
    workspace.open(**PLACE)
    views = workspace.page.evaluate("""() => [...new Set(
        [...document.querySelectorAll(".views input")].map(({ value }) => value))]""")
    assert set(views) == {str(link["view"]) for link in SHOWN.values()}, "none is left out"
    for name in [*SHOWN][part::PARTS]:
        visit(workspace, name)
        workspace.find("#export").click()
        offered = workspace.page.evaluate(KINDS)
        assert offered["PNG"] or name in ("worksheet", "feed-forward"), name
        assert offered["CSV"]
        assert offered.pop("PDF") == offered["PNG"]  # printed in test_export.py
        offered.pop("Handout that runs", None)  # packing a model takes minutes: test_page_living.py
        files = {kind: save(workspace, kind, tmp_path) for kind, on in offered.items() if on}
        assert all(file.stat().st_size for file in files.values())
        if "PNG" in files:
            check_picture(files["PNG"])
        if "SVG" in files:
            check_drawing(files["SVG"])
        assert name not in HEATMAPS or "SVG" in files
        if name in HEATMAPS:
            check_heatmap(files["SVG"])
        found = numbers_of(files["CSV"])
        CHECKS.get(name, check_nothing)(workspace, found)
        arrays = arrays_of(files["NPZ"])
        document = json.loads(files["JSON"].read_text())
        if name != "training":  # whose files have all steps
            assert set(document["tensors"]) == set(arrays) - {"trace.json"} == set(found), name
        for key in set(found) & set(arrays):
            tensor = document["tensors"][key]
            # Tables have a fixed order of axes.
            order = sorted(range(len(tensor["dims"])), key=lambda i: AXES.index(tensor["dims"][i]))
            for numbers in (arrays[key], np.array(tensor["data"], dtype=float)):
                np.testing.assert_allclose(numbers.transpose(order), found[key], atol=1e-5)
        assert "</html>" in files["HTML"].read_text("latin-1")[-200:]
