"""What is exported of a long text's map, and moving it by the small map."""

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from tests.browsing.workspace import Workspace
from tests.long_texts.reading import HEAD, LAYER, SHARP, Run, opened, window
from tests.workspace.test_page_export import arrays_of, save


def test_numbers_are_those_in_sight_and_a_picture_is_the_map(
    there: Workspace, run: Run, tmp_path: Path
) -> None:
    page = opened(there, queries="200-220", keys="180-210")
    seen = None
    while seen != window(page):  # the map may still be fitting its column
        seen = window(page)
        found = arrays_of(save(there, "NPZ", tmp_path))["weights"]
    rows, cols = (slice(*part) for part in seen)
    expected = run.weights[rows, cols]
    hidden = np.triu(np.ones_like(run.weights, dtype=bool), 1)[rows, cols]
    np.testing.assert_allclose(found[~hidden], expected[~hidden], rtol=3e-3, atol=1e-6)
    assert np.isnan(found[hidden]).all()
    document = json.loads(save(there, "JSON", tmp_path).read_text())
    names = [one["text"] for one in document["tokens"]["query"]]
    assert names[0].startswith(f"{rows.start + 1} ")
    assert len(names) == rows.stop - rows.start
    svg = ElementTree.fromstring(save(there, "SVG", tmp_path).read_text())
    (image,) = svg.iter("{http://www.w3.org/2000/svg}image")
    assert image.get("href", "").startswith("data:image/png;base64,")


def test_the_small_map_is_dragged(there: Workspace, run: Run) -> None:
    page = opened(there, queries="0-100", keys="0-100")
    assert page.locator(".long-map").get_attribute("data-drawn") == f"{LAYER} {HEAD}"
    tall = (rows := window(page)[0])[1] - rows[0]
    box = page.locator(".minimap canvas").bounding_box()
    assert box is not None

    def at(part: float) -> tuple[float, float]:
        return box["x"] + part * box["width"], box["y"] + part * box["height"]

    page.mouse.move(*at(0.2))
    page.mouse.down()
    for part in (0.3, 0.4, 0.5):
        page.mouse.move(*at(part))
    page.mouse.up()
    page.wait_for_selector(SHARP)
    (top, bottom), (left, right) = window(page)
    assert abs((top + bottom) / 2 - run.tokens / 2) < 5
    assert abs((left + right) / 2 - run.tokens / 2) < 5
    assert abs(bottom - top - tall) <= 1, "it is moved, not zoomed"
    page.wait_for_function("(top) => location.search.includes(`queries=${top}-`)", arg=top)
