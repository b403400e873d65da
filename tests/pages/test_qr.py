"""QR codes, read back by another library; links only."""

import io
import re
from urllib.parse import quote
from xml.etree import ElementTree

import httpx
import numpy as np
import pytest
import zxingcpp
from numpy.typing import NDArray

from app.assets.qr import MAX_QR_BYTES
from app.http.problems import MEDIA_TYPE, URN

SVG = "{http://www.w3.org/2000/svg}"
LONGEST = "https://example.org/" + "x" * (MAX_QR_BYTES - 20)


def modules(svg: bytes) -> NDArray[np.bool_]:
    """Return the dark modules of an SVG whose path is rows of horizontal strokes."""
    root = ElementTree.parse(io.BytesIO(svg)).getroot()
    size = int(root.attrib["viewBox"].split()[-1])
    dark = np.zeros((size, size), dtype=bool)
    (stroke,) = (path for path in root.iter(f"{SVG}path") if "stroke" in path.attrib)
    x = y = 0.0
    for command, numbers in re.findall(r"([Mmh])([-\d. ]+)", stroke.attrib["d"]):
        step = [float(number) for number in re.findall(r"-?\d*\.?\d+", numbers)]
        if command == "h":
            dark[int(y), int(x) : int(x + step[0])] = True
            x += step[0]
        else:
            x, y = (step[0], step[1]) if command == "M" else (x + step[0], y + step[1])
    return dark


@pytest.mark.parametrize(
    "link",
    [
        "http://192.168.1.7:8000/s/23456789abcde",
        "https://example.org/?source=%E7%8C%AB+%26+%23&lang=zh",
        "https://example.org/?source=猫坐在垫子上。😀",
        "HTTPS://EXAMPLE.ORG/S/23456789ABCDE",
        LONGEST,
    ],
)
def test_another_reader_reads_it(reader: httpx.Client, link: str) -> None:
    response = reader.get("/api/qr", params={"text": link})
    assert response.headers["content-type"] == "image/svg+xml"
    dark = modules(response.content)
    assert not dark[:4].any()
    assert not dark[:, -4:].any()
    picture = np.kron(np.where(dark, 0, 255), np.ones((4, 4))).astype(np.uint8)
    (found,) = zxingcpp.read_barcodes(picture)
    assert found.text == link
    assert found.ec_level in ("M", "Q", "H")


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("", "missing"),
        ("text=", "unknown-value"),
        ("text=hello", "unknown-value"),
        ("text=javascript:alert(1)", "unknown-value"),
        ("text=file:///etc/passwd", "unknown-value"),
        ("text=https://", "unknown-value"),
        ("text=https://a%20b", "unknown-value"),
        ("text=https://a%0D%0Ab", "unknown-value"),
        ("text=https://a%00", "unknown-value"),
        ("text=" + quote("\u2028https://a"), "unknown-value"),
        ("text=" + LONGEST + "y", "too-long"),
        ("text=https://a/" + quote("猫" * 700), "too-long"),
    ],
)
def test_only_links_are_accepted(reader: httpx.Client, query: str, kind: str) -> None:
    response = reader.get(f"/api/qr?{query}")
    problem = response.json()
    assert response.status_code == 422
    assert response.headers["content-type"] == MEDIA_TYPE
    assert (problem["type"], problem["field"]) == (URN + kind, "text")
    if kind == "too-long":
        assert str(MAX_QR_BYTES) in problem["detail"]


def test_bytes_that_are_not_text_are_refused(reader: httpx.Client) -> None:
    response = reader.get("/api/qr?text=https://a/%FF%FE")
    assert response.status_code == 200  # invalid bytes were replaced on the way in
