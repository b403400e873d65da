"""A handout in which the model runs, in Chromium: from a disk, after an editor has saved it."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from filelock import FileLock
from playwright.sync_api import Browser, BrowserContext, expect

from app.local_models import FOLDER, handout_bytes, missing_file
from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder, load
from tests.browsing.workspace import Workspace
from tests.handouts.living_file import write_living
from tests.servers import AppServer
from tests.site.static_host import static_host

if missing_file():
    pytest.skip("run `make` to install what a page's own model needs", allow_module_level=True)

OPENING = "My mother bought a new book yesterday."
SENTENCE = "The cat sat on the mat, and it didn't stop."
PLACE: dict[str, Any] = {"view": "attention", "block": "cross", "layer": 1, "head": 4}
WHOLE = 22_000_000  # bytes of the file
LOADED = 120_000  # ms, on a busy machine
RUNS_HERE = "The model runs in this page: what you type is sent nowhere."


@pytest.fixture(scope="module")
def served() -> EncoderDecoder:
    return load("en-zh", "cpu")


@pytest.fixture(scope="module")
def living(served: EncoderDecoder, exported: Path, common: Path) -> Path:
    file = common / "living.html"
    with FileLock(common / "living.lock"):
        if not file.exists():
            file.write_bytes(write_living(served, exported, {"source": OPENING, **PLACE}))
    return file


def shown(page: Any) -> "np.ndarray[Any, Any]":
    """Return the numbers of the heatmap that is shown."""
    page.wait_for_selector("#stage[aria-busy=false]", state="attached", timeout=LOADED)
    cells = page.locator("#view").evaluate(
        "(view) => { const element = [...view.querySelectorAll('*')].find((e) => e.picture);"
        " const { matrix } = element.picture;"
        " return { rows: matrix.rows, values: [...matrix.values] }; }"
    )
    return np.array(cells["values"]).reshape(cells["rows"], -1)


def reads_another_sentence(
    context: BrowserContext, address: str, served: EncoderDecoder
) -> list[str]:
    """Open the file and type a sentence; return what was printed and requested beside it."""
    page, beside = context.new_page(), list[str]()
    page.on("console", lambda message: beside.append(message.text))
    page.on("pageerror", lambda error: beside.append(str(error)))
    context.on("request", lambda request: beside.append(request.url))
    page.goto(f"{address}#view=heads", timeout=LOADED)
    expect(page.locator("#view")).to_contain_text("all (24)", timeout=LOADED)
    expect(page.locator("#problem")).to_be_hidden()
    page.locator("#views label:has([value=attention])").click()
    expected = np.asarray(served.trace(OPENING)["decoder.1.cross.weights"])[4]
    np.testing.assert_allclose(shown(page), expected, atol=1e-6)
    expect(page.locator("#runs-here")).to_have_text(RUNS_HERE, timeout=LOADED)
    trace = served.trace(SENTENCE)
    page.fill("#source", SENTENCE)
    page.press("#source", "Enter")
    expect(page.locator("#output")).to_have_text(trace.output.text, timeout=LOADED)
    expected = np.asarray(trace["decoder.1.cross.weights"])[4]
    np.testing.assert_allclose(shown(page), expected, atol=1e-4)
    assert "#source=The+cat" in page.url, "the address is a link into the file"
    return [line for line in beside if not line.startswith(("blob:", "data:", address))]


def test_the_model_runs_from_a_disk_after_an_editor_has_saved_the_file(
    browser: Browser, living: Path, served: EncoderDecoder, tmp_path: Path
) -> None:
    saved = tmp_path / "saved.html"
    saved.write_text(living.read_text(encoding="utf-8"), encoding="utf-8", newline="\r\n")
    context = browser.new_context(locale="en-GB", offline=True)
    assert not reads_another_sentence(context, saved.as_uri(), served)
    (page,) = context.pages
    output = page.locator("#output").inner_text()
    page.reload(timeout=LOADED)
    expect(page.locator("#output")).to_have_text(output, timeout=LOADED)
    expect(page.locator("#runs-here")).to_have_text(RUNS_HERE, timeout=LOADED)
    context.close()


def test_it_runs_from_a_host_too(browser: Browser, living: Path, served: EncoderDecoder) -> None:
    context = browser.new_context(locale="en-GB")
    with static_host(living.parent, policy="") as host:
        beside = reads_another_sentence(context, f"{host}{living.name}", served)
    assert not beside
    context.close()


def test_without_simd_the_figure_stays(browser: Browser, living: Path) -> None:
    context = browser.new_context(locale="en-GB")
    context.add_init_script("WebAssembly.validate = () => false")
    page = context.new_page()
    page.goto(living.as_uri(), timeout=LOADED)
    expect(page.locator("#runs-here")).to_contain_text("lacks WebAssembly SIMD", timeout=LOADED)
    expect(page.locator("#source")).to_have_js_property("readOnly", True)
    assert shown(page).shape[0] > 5
    context.close()


def test_every_graph_of_a_run_is_in_the_file(living: Path, exported: Path) -> None:
    text = living.read_text(encoding="utf-8")
    derived = {"inside.onnx", "nearest.onnx"}  # of views that such a file does not have
    for file in exported.glob("*.onnx"):
        assert (f'data-file="model/{file.name}"' in text) == (file.name not in derived)


def test_its_size_is_what_the_menu_says(living: Path, exported: Path) -> None:
    size = living.stat().st_size
    assert size <= WHOLE
    assert abs(size / handout_bytes(exported) - 1) < 0.02


@pytest.fixture
def data(
    living: Path,  # whose model is packed, which takes a while
    exported: Path,
    served: EncoderDecoder,
    tmp_path: Path,
) -> Path:
    """The data folder of a server that has exported the model before."""
    folder = tmp_path / "data" / FOLDER
    folder.mkdir(parents=True)
    (folder / served.info.digest).symlink_to(exported)
    return folder.parent


def test_the_menu_says_its_size_and_saves_it(
    browser: Browser,
    data: Path,
    served: EncoderDecoder,
    launch: Callable[..., AppServer],
    tmp_path: Path,
) -> None:
    context = browser.new_context(locale="en-GB")
    workspace = Workspace(context.new_page(), launch(data).url)
    workspace.load(source=SENTENCE, **PLACE)
    workspace.find("#export").click()
    offered = workspace.page.locator("button.export-kind", has_text="Handout that runs")
    stated = re.search(r"the model too, ([\d.]+) MB", offered.inner_text())
    assert stated
    with workspace.page.expect_download(timeout=LOADED) as saving:
        offered.click()
    assert saving.value.suggested_filename.endswith("-cross-layer-2-head-5.runs.html")
    file = tmp_path / "saved.html"
    saving.value.save_as(file)
    expect(workspace.find("#export-panel [role=status]")).to_contain_text("Saved as")
    assert abs(file.stat().st_size / 1e6 - float(stated[1])) < 0.5
    page = context.new_page()
    page.goto(file.as_uri(), timeout=LOADED)
    expect(page.locator("#source")).to_have_value(SENTENCE, timeout=LOADED)
    expected = np.asarray(served.trace(SENTENCE)["decoder.1.cross.weights"])[4]
    np.testing.assert_allclose(shown(page), expected, atol=1e-6)
    expect(page.locator("#runs-here")).to_have_text(RUNS_HERE, timeout=LOADED)
    context.close()


def test_a_share_whose_model_has_gone_brings_it_into_the_page(
    browser: Browser,
    data: Path,
    exported: Path,
    served: EncoderDecoder,
    launch: Callable[..., AppServer],
) -> None:
    state = {"source": SENTENCE, **PLACE}
    before = launch(data)
    reply = httpx.post(f"{before.url}/api/shares", json={"state": state}, timeout=60)
    path = f"/s/{reply.raise_for_status().json()['id']}"
    context = browser.new_context(locale="en-GB")
    page, printed = context.new_page(), list[str]()
    page.on("console", lambda message: printed.append(message.text))
    page.goto(before.url + path)
    expect(page.locator("#frozen")).to_be_visible(timeout=LOADED)
    for absent in ("#run-here", "#run-here-says"):
        expect(page.locator(absent)).to_be_hidden()
    expect(page.locator("#open-live")).to_be_visible()
    kept = data / FOLDER / served.info.digest
    kept.unlink()
    after = launch(data, models="reverse=zoo/reverse", zoo="false")
    page.goto(after.url + path)
    expect(page.locator("#run-here-says")).to_contain_text("takes minutes", timeout=LOADED)
    kept.symlink_to(exported)
    page.goto(after.url + path)
    expect(page.locator("#run-here")).to_be_visible(timeout=LOADED)
    for absent in ("#run-here-says", "#open-live"):
        expect(page.locator(absent)).to_be_hidden()
    weights = shown(page)
    page.locator("#heads label").nth(2).click()
    page.wait_for_url(re.compile("head=2"))
    expect(page.locator("#run-here")).to_have_text(re.compile(r"page \(2\d\.\d MB\)"))
    page.click("#run-here")
    expect(page.locator("#runs-here")).to_have_text(RUNS_HERE, timeout=LOADED)
    heads = np.asarray(served.trace(SENTENCE)["decoder.1.cross.weights"])
    np.testing.assert_allclose(weights, heads[4], atol=1e-6)
    np.testing.assert_allclose(shown(page), heads[2], atol=1e-6)
    page.fill("#source", OPENING)
    page.press("#source", "Enter")
    trace = served.trace(OPENING)
    expect(page.locator("#output")).to_have_text(trace.output.text, timeout=LOADED)
    expected = np.asarray(trace["decoder.1.cross.weights"])[2]
    np.testing.assert_allclose(shown(page), expected, atol=1e-4)
    assert not printed
    context.close()
