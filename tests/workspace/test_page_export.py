"""Exports, read back: pictures, tables, documents, arrays and the handout."""

import base64
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
from playwright.sync_api import expect

from tests.browsing import api
from tests.browsing.watch import Watch
from tests.browsing.workspace import Workspace
from tests.views.test_page_numbers import PAPER, SENTENCE, TARGET, shade, trace, weights

PLACE: dict[str, Any] = {
    "source": SENTENCE,
    "target": TARGET,
    "block": "cross",
    "layer": 1,
    "head": 2,
}
NAME = "decoder.1.cross.weights"
LINE = """async ([png, x]) => {
    const image = new Image();
    image.src = `data:image/png;base64,${png}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width, image.height];
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(x, 0, 1, image.height);
    return Array.from({ length: image.height }, (_, y) => Array.from(data.slice(4 * y, 4 * y + 3)));
}"""


def save(workspace: Workspace, kind: str, folder: Path) -> Path:
    """Choose a format from the menu and save the file under its suggested name."""
    if workspace.find("#export-panel").is_hidden():
        workspace.find("#export").click()
    with workspace.page.expect_download() as coming:
        workspace.find(".export-kind").filter(
            has=workspace.page.get_by_text(kind, exact=True)
        ).click()
    file = folder / coming.value.suggested_filename
    coming.value.save_as(file)
    return file


def tensors(url: str, *select: str) -> dict[str, NDArray[Any]]:
    """Return tensors from the API."""
    return api.tensors(url, *select, source=SENTENCE, target=TARGET)


def arrays_of(file: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of an NPZ file."""
    with np.load(file, allow_pickle=False) as arrays:
        return dict(arrays)


def test_csv_is_the_tensors(workspace: Workspace, tmp_path: Path) -> None:
    workspace.open(**PLACE)
    file = save(workspace, "CSV", tmp_path)
    assert file.name == "headlight-en-zh-attention-cross-layer-2-head-3.csv"
    raw = file.read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf")
    assert raw.count(b"\n") == raw.count(b"\r\n")
    rows = list(csv.DictReader(io.StringIO(raw.decode("utf-8-sig"), newline="")))
    own = tensors(workspace.url, NAME, "decoder.1.cross.mask")
    assert len(rows) == sum(array.size for array in own.values())
    read = np.full(own[NAME].shape, np.nan)
    for row in rows:
        if row["tensor"] == NAME:
            read[int(row["head"]), int(row["query"]), int(row["key"])] = float(row["value"])
    np.testing.assert_allclose(read, own[NAME], atol=1e-6)
    keys = {int(row["key"]): row["key_token"] for row in rows}
    chips = workspace.find("#source-tokens .token").all_inner_texts()
    assert [keys[i].strip() for i in sorted(keys)] == [chip.lstrip("·") for chip in chips]
    state = {**PLACE, "lang": "en", "view": "attention"}
    made = api.shared(workspace.url, state)
    workspace.page.route("**/api/trace", lambda route: route.abort())
    workspace.page.goto(made["url"].replace("localhost", "127.0.0.1"))
    workspace.drawn()
    arrays = arrays_of(save(workspace, "NPZ", tmp_path))
    assert json.loads(str(arrays["share.json"]))["id"] == made["id"]
    np.testing.assert_allclose(arrays[NAME], read, atol=1e-5)


def test_png_shows_the_weights(workspace: Workspace, tmp_path: Path) -> None:
    workspace.open(**PLACE)
    parts = trace(workspace.url, "decoder.1.cross")
    expected = weights(parts["q"][2], parts["k"][2], parts["mask"])
    col = int(np.unravel_index(np.argmax(expected), expected.shape)[1])
    x, _ = workspace.cell(0, col, 0.06, 0.5)  # beside its number
    left = workspace.find("#view .matrix").first.evaluate("e => e.getBoundingClientRect().left")
    tall = workspace.cell(1, 0)[1] - workspace.cell(0, 0)[1]
    file = save(workspace, "PNG", tmp_path)
    # One line of pixels from top to bottom, through the column, two device pixels per CSS pixel.
    png = base64.b64encode(file.read_bytes()).decode()
    line = np.array(workspace.page.evaluate(LINE, [png, round(2 * (24 + x - left))]))
    assert line[2].tolist() == list(PAPER)
    # It has samples of each cell near its upper edge, in the middle and near its lower edge.
    within = np.array([8, tall, 2 * tall - 8])
    cells = (2 * tall * np.arange(len(expected))[:, None] + within).round().astype(int)
    colours = np.array([shade(float(weight)) for weight in expected[:, col]])[:, None]
    starts = range(len(line) - int(cells.max()))
    off = [int(np.abs(line[start + cells] - colours).max()) for start in starts]
    assert min(off) <= 3, min(off)
    workspace.open(**PLACE, view="qkv")
    workspace.menu("#theme")
    dark = base64.b64encode(save(workspace, "PNG", tmp_path).read_bytes()).decode()
    assert workspace.page.evaluate(LINE, [dark, 4])[4] == [15, 18, 24]


def test_a_heatmap_is_a_drawing_with_a_rectangle_a_cell(
    workspace: Workspace, tmp_path: Path
) -> None:
    workspace.open(**PLACE | {"block": "decoder"}, query=3, key=2)
    place = "decoder.1.self"
    found = tensors(workspace.url, f"{place}.weights", f"{place}.mask")
    expected, mask = found[f"{place}.weights"][2], found[f"{place}.mask"]
    file = save(workspace, "SVG", tmp_path)
    assert file.name == "headlight-en-zh-attention-decoder-layer-2-head-3.svg"
    assert not re.findall(r"\sstyle=|class=|<script|<image|href=", file.read_text())
    root = ElementTree.parse(file).getroot()
    name = "{http://www.w3.org/2000/svg}"

    def part(which: str) -> ElementTree.Element:
        found = root.find(f".//{name}g[@data-part='{which}']")
        assert found is not None, which
        return found

    cells = list(part("cells"))
    assert len(cells) == expected.size
    for cell, weight, open_ in zip(cells, expected.flat, mask.flat, strict=True):
        if not open_:
            assert (cell.tag, cell.get("data-cover")) == (f"{name}path", "masked")
            continue
        fill = cell.get("fill") or ""
        seen = [int(channel) for channel in re.findall(r"\d+", fill)]
        np.testing.assert_allclose(seen, shade(weight), atol=2)
    said = [text.text or "" for text in part("labels").iter(f"{name}text")]
    figure = workspace.figure()[1]
    assert said == [*figure[0][1], *figure[1][1], "key (looked at)", "query (looks)"]
    printed = [float(text.text or "") for text in part("numbers").iter(f"{name}text")]
    weights_seen = expected[mask.astype(bool)]
    np.testing.assert_allclose(printed, weights_seen[weights_seen >= 0.005], atol=0.0051)
    assert len(part("bars").findall(f"{name}g")) == expected.shape[0]
    meaning = [text.text for text in part("legend").iter(f"{name}text")]
    assert meaning == ["0", "1", "masked"]
    assert [one.get("data-outline") for one in part("lit")] == ["row", "col", "cell"]
    # A line may break at any space.
    lines = "".join(text.text or "" for text in root.findall(f"{name}text"))
    assert workspace.find("#caption").inner_text().replace(" ", "") in lines.replace(" ", "")


PRINTED = """() => {
    window.print = () => {
        const paper = document.querySelector(".paper svg");
        const svg = new XMLSerializer().serializeToString(paper);
        window.printed = { title: document.title, svg };
    };
}"""


def test_a_pdf_is_the_drawing_alone_on_one_page(workspace: Workspace, tmp_path: Path) -> None:
    page = workspace.page
    workspace.open(**PLACE, view="compare", lang="zh", query=3)
    page.evaluate(PRINTED)
    drawn = save(workspace, "SVG", tmp_path)
    title = page.title()
    workspace.find(".export-kind").filter(has_text="PDF").click()
    printed = page.evaluate("window.printed")
    assert printed["title"] == drawn.stem
    root = ElementTree.parse(drawn).getroot()
    assert [*ElementTree.fromstring(printed["svg"]).itertext()] == [*root.itertext()]
    data = page.pdf(prefer_css_page_size=True)  # closes like the print dialog
    assert len(re.findall(rb"/Type /Page\b", data)) == 1
    box = re.search(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", data)
    assert box is not None
    for points, side in zip(box.groups(), ("width", "height"), strict=True):
        assert float(points) == pytest.approx(float(root.get(side) or 0) * 0.75, abs=1)
    assert b"/Subtype /Image" not in data, "lines and text, no pixels"
    assert re.search(rb"/FontName /\w+\+\S*CJK", data), "with the Chinese that it shows"
    assert page.title() == title
    assert page.locator(".paper").count() == 0


def test_the_handout_is_the_page(workspace: Workspace, tmp_path: Path, watch: Watch) -> None:
    workspace.open(**PLACE, query=3, key=2)
    workspace.menu("#theme")
    file = save(workspace, "HTML", tmp_path)
    assert file.name == "headlight-en-zh-attention-cross-layer-2-head-3.html"
    before = workspace.figure()[0]
    watch.expect(f"request to elsewhere: {file.as_uri()}")
    workspace.page.goto(file.as_uri())
    workspace.drawn()
    np.testing.assert_allclose(workspace.figure()[0], before, atol=1e-5)
    expect(workspace.find("#pair-title")).to_have_text("Pinned pair")
    assert workspace.pixels([(3, 400)])[0] == (15, 18, 24)
    table = save(workspace, "CSV", tmp_path).read_text(encoding="utf-8-sig")
    assert table.startswith("tensor,head,query,query_token,key,key_token,value")


def test_the_menu_is_worked_by_keys_and_by_thumbs_and_what_goes_wrong_is_said(
    workspace: Workspace, tmp_path: Path, watch: Watch
) -> None:
    workspace.page.set_viewport_size({"width": 320, "height": 640})
    workspace.open(**PLACE)
    button = workspace.find("#export")
    button.focus()
    workspace.page.keyboard.press("Enter")
    expect(button).to_have_attribute("aria-expanded", "true")
    for box in workspace.boxes(".export-kind"):
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 320
        assert box["height"] >= 44
    workspace.page.keyboard.press("Tab")
    with workspace.page.expect_download() as coming:
        workspace.page.keyboard.press("Enter")
    assert coming.value.suggested_filename.endswith(".png")
    expect(workspace.find(".export .says")).to_contain_text("Saved as headlight-en-zh-attention")
    workspace.page.keyboard.press("Escape")
    expect(workspace.find("#export-panel")).to_be_hidden()
    expect(button).to_be_focused()
    watch.expect("status of 503")
    workspace.open(**PLACE)
    problem = {"type": "urn:headlight:busy", "title": "", "status": 503, "detail": ""}
    workspace.page.route(
        "**/api/handout*",
        lambda route: route.fulfill(
            status=503, content_type="application/problem+json", body=json.dumps(problem)
        ),
    )
    workspace.find("#export").click()
    workspace.find(".export-kind").filter(has_text="a handout").click()
    expect(workspace.find(".export .says")).to_contain_text("The model is busy")
    workspace.open(**PLACE, view="worksheet")
    workspace.find("#export").click()
    for kind, offered in {"PNG": False, "SVG": False, "PDF": False, "CSV": True}.items():
        choice = workspace.find(".export-kind").filter(has_text=kind)
        (expect(choice).to_be_enabled if offered else expect(choice).to_be_disabled)()
