"""What is left of a figure in the files that nbconvert and a browser make of a notebook."""

import re
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import headlight
from tests.serving.jupyter import write_notebook

ROOT = Path(__file__).parents[2]
SETUP = """\
import headlight
model = headlight.load("en-zh")
trace = model.trace("The cat sat on the mat.")
trace"""
TEXT = "The cat sat on the mat."
FIGURES = [
    'headlight.show(model, "The cat sat on the mat.", block="cross", layer=2, head=1)',
    'headlight.Widget(model, "The cat sat on the mat.", block="cross", layer=2, head=3)',
]


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1200, "height": 1000})
    yield page
    page.close()


def test_the_html_and_its_pdf_keep_the_figures(page: Page, tmp_path: Path) -> None:
    """Both of an executed notebook; no kernel and no network is there any more."""
    page.goto(converted(tmp_path, FIGURES), wait_until="domcontentloaded")
    expect(page.locator("img[alt='decoder.2.cross.weights, the first plane']")).to_be_visible()
    expect(page.locator("iframe[title=Headlight]")).to_have_count(2)
    for index, head in enumerate((2, 4)):
        figure = page.frame_locator("iframe[title=Headlight]").nth(index)
        expect(figure.locator("#caption")).to_contain_text(f"Layer 3, head {head}")
        expect(figure.locator("#view .chart[data-drawn]")).to_be_visible()
        figure.locator("#view .chart[data-drawn]").scroll_into_view_if_needed()
    printed = text_of(page.pdf(print_background=True))
    trace = headlight.load("en-zh").trace(TEXT)
    # The figures are printed one after the other.
    _, *parts = re.split(r"(?=Layer 3, head \d: while writing)", printed)
    assert len(parts) == 2
    for part, head in zip(parts, (1, 3), strict=True):
        assert part.startswith(f"Layer 3, head {head + 1}")
        weights = trace.weights("decoder.2.cross", head=head).value.flatten().tolist()
        numbers = {f"{weight:.2f}" for weight in weights} - {"0.00"}
        assert len(numbers) > 5
        assert all(number in part for number in numbers)


def test_without_the_option_the_page_has_only_the_widget(page: Page, tmp_path: Path) -> None:
    """What the documentation warns of."""
    page.goto(converted(tmp_path, FIGURES[1:], keeps_state=True), wait_until="domcontentloaded")
    expect(page.locator("img[alt='decoder.2.cross.weights, the first plane']")).to_be_visible()
    expect(page.locator("iframe[title=Headlight]")).to_have_count(0)


def converted(folder: Path, figures: list[str], *, keeps_state: bool = False) -> str:
    """Run a notebook with figures, convert it to HTML, and return the file's address."""
    write_notebook(folder / "figure.ipynb", SETUP, *figures)
    subprocess.run(
        [
            *(sys.executable, "-m", "nbconvert", "--to", "html", "--execute"),
            f"--ExecutePreprocessor.store_widget_state={keeps_state}",
            "figure.ipynb",
        ],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(folder)},
        check=True,
        capture_output=True,
    )
    return (folder / "figure.html").as_uri()


def text_of(pdf: bytes) -> str:
    """Return the text that Chromium wrote into a PDF, which has each font's glyphs in a table."""
    objects = {
        int(number): content
        for number, content in re.findall(rb"(\d+) 0 obj\n(.*?)endobj", pdf, re.DOTALL)
    }
    named = re.findall(rb"/(F\d+) (\d+) 0 R", b"".join(objects.values()))
    fonts = {name: glyphs(objects, int(number)) for name, number in named}
    text = ""
    font: dict[bytes, str] = {}
    for content in map(stream, objects.values()):
        for name, codes in re.findall(rb"/(F\d+) [\d.]+ Tf|<([0-9A-F]+)>", content):
            font = fonts[name] if name else font
            text += "".join(font.get(codes[i : i + 4], "") for i in range(0, len(codes), 4))
    return text


def glyphs(objects: dict[int, bytes], number: int) -> dict[bytes, str]:
    """Return the characters of a font's glyphs."""
    table = re.search(rb"/ToUnicode (\d+) 0 R", objects[number])
    characters: dict[bytes, str] = {}
    content = stream(objects[int(table[1])]) if table else b""
    for first, last, code in re.findall(rb"<(\w{4})> <(\w{4})> <(\w{4})>", content):
        for offset in range(int(last, 16) - int(first, 16) + 1):
            characters[b"%04X" % (int(first, 16) + offset)] = chr(int(code, 16) + offset)
    for code, character in re.findall(rb"^<(\w{4})> <(\w{4})>$", content, re.MULTILINE):
        characters[code] = chr(int(character, 16))
    return characters


def stream(content: bytes) -> bytes:
    """Return the decompressed stream of a PDF's object."""
    data = re.search(rb"stream\r?\n(.*?)\r?\nendstream", content, re.DOTALL)
    return zlib.decompress(data[1]) if data and b"FlateDecode" in content else b""
