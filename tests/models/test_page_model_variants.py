"""Bundles of any mechanism open in the workspace, in every view that it offers."""

import re
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from playwright.sync_api import Page, expect
from torch import nn

from model.bundle.weights import save_bundle
from model.text.tokens import Tokenizer
from model.transformer.config import ModelConfig
from model.transformer.positions import POSITIONS
from model.transformer.scoring import SCORINGS
from model.transformer.stacks import Transformer
from tests.browsing import api
from tests.browsing.api import client
from tests.browsing.fixtures import PATIENCE_MS
from tests.browsing.watch import Watch
from tests.browsing.workspace import Workspace
from tests.model.conftest import TEXTS
from tests.servers import AppServer, running_app

PLAIN = ModelConfig(1, 32, 4, 48, 2, 2, max_tokens=40)
WINDOWS = {"encoder_mask": "window-2", "decoder_mask": "causal & window-3"}
# Together these have every mechanism; tests/js holds how the worksheet computes each of them.
BUNDLES: dict[str, dict[str, Any]] = {
    "learned": {"positions": "learned", "heads": 16},
    "learned-each-layer": {"positions": "learned-each-layer", "encoder_mask": "causal"},
    "sinusoidal-on-qk": {"positions": "sinusoidal-on-qk"},
    "additive-relative-window": {"scoring": "additive-bias", "positions": "relative", **WINDOWS},
    "clipped-product-pre": {"positions": "relative-product", "max_offset": 2, "norm": "pre"},
    "rotary": {"positions": "rotary"},
    "learned-qk-unscaled": {"positions": "learned-on-qk", "scoring": "dot", "bias": False},
    "each-layer-window-pre": {"positions": "sinusoidal-each-layer", "norm": "pre", **WINDOWS},
    "none-additive-one-head": {"positions": "none", "scoring": "additive", "heads": 1},
    "relative": {"positions": "relative"},
}
# The views whose pictures depend on the mechanism.
VIEWS = ("attention", "positions", "qkv", "inside", "worksheet")
SOURCE, TARGET = "The cat sat on the mat.", "猫坐在垫子上。"
DRAWN = "#view canvas, #view svg, #view .sheet, #view table, #view [data-drawn]"
BROKEN = ("NaN", "undefined", "[object", "Infinity")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, server_cache: Path) -> Iterator[AppServer]:
    folder = tmp_path_factory.mktemp("mechanisms")
    tokenizer = Tokenizer.train(TEXTS * 3, vocabulary=400)
    for name, changes in BUNDLES.items():
        torch.manual_seed(len(name))
        config = replace(PLAIN, vocabulary=len(tokenizer), **changes)
        model = Transformer(config)
        for one, parameter in model.named_parameters():
            if one.endswith((".pi", ".b")):  # whose initial values have no effect
                nn.init.normal_(parameter, std=0.5)
        save_bundle(folder / name, model.state_dict(), config, tokenizer, name, torch.float32)
    models = ",".join(f"{name}={folder / name}" for name in BUNDLES)
    settings = {"models": models, "zoo": "false", "max_models": "4"}
    with running_app(folder / "data", settings, warm=True, cache=server_cache) as running:
        yield running


@pytest.fixture
def opened(page: Page, watch: Watch, server: AppServer) -> Workspace:
    page.set_default_timeout(PATIENCE_MS)
    return Workspace(page, server.url)


def test_every_mechanism_is_in_one_of_them() -> None:
    plain = asdict(PLAIN)
    used = [plain, *(plain | changes for changes in BUNDLES.values())]  # all others test the plain
    assert {config["positions"] for config in used} == set(POSITIONS)
    assert {config["scoring"] for config in used} == set(SCORINGS)
    for name in ("norm", "bias", "heads", "encoder_mask", "decoder_mask"):
        assert len({config[name] for config in used}) > 1, name


@pytest.mark.parametrize("name", list(BUNDLES)[:-1])
def test_every_view_opens_and_the_worksheet_agrees(opened: Workspace, name: str) -> None:
    place = {"source": SOURCE, "target": TARGET, "model": name, "layer": 1, "head": 0}
    for view in VIEWS:
        opened.open(**place, view=view, block="decoder", query=3, key=2, step="all")
        opened.settled()
        expect(opened.find(DRAWN).first).to_be_attached()
        expect(opened.find("#problem")).to_be_hidden()
        said = opened.find("#view").inner_text()
        assert not any(word in said for word in BROKEN), (view, said)
    assert opened.link["view"] == "worksheet"
    verdict = opened.find("#view .worksheet > div > .verdict").first
    expect(verdict).to_contain_text("Agrees with the model")
    expect(opened.find("#view .verdict.differs")).to_have_count(0)


def parameters(server: AppServer, model: str, *names: str) -> dict[str, np.ndarray[Any, Any]]:
    """Return a model's parameters from the API."""
    url = f"{server.url}/api/models/{model}/parameters"
    return api.arrays(client.get(url, params={"select": ",".join(names)}).json())


def traced(server: AppServer, model: str, *names: str) -> dict[str, np.ndarray[Any, Any]]:
    """Return the tensors of a run from the API."""
    return api.tensors(server.url, *names, source=SOURCE, target=TARGET, model=model)


def number(text: str) -> float:
    return float(text.replace("−", "-").strip("() "))


def test_the_inspector_works_out_an_additive_score(opened: Workspace, server: AppServer) -> None:
    """Check w · tanh(q + k + b) + π with each displayed number."""
    name, at, head, i, j = "additive-relative-window", "encoder.1.self", 2, 3, 4
    place = {"source": SOURCE, "target": TARGET, "model": name, "block": "encoder"}
    opened.open(**place, view="attention", layer=1, head=head, query=i, key=j)
    run = traced(server, name, f"{at}.q", f"{at}.k", f"{at}.scores", f"{at}.weights")
    learned = parameters(server, name, f"{at}.scoring.*", "encoder.positions.pi")
    q, k = run[f"{at}.q"][head, i], run[f"{at}.k"][head, j]
    w, b = learned[f"{at}.scoring.w"][head], learned[f"{at}.scoring.b"][head]
    terms = w * np.tanh(q + k + b)
    pi = learned["encoder.positions.pi"][head]
    own = pi[j - i + (len(pi) - 1) // 2]
    assert terms.sum() + own == pytest.approx(run[f"{at}.scores"][head, i, j], abs=1e-4)
    working = opened.find("#working")
    best = int(np.abs(terms).argmax())
    expect(working).to_contain_text(f"channel {best + 1}")
    lines = {
        one.locator("dt").inner_text(): one.locator("dd").inner_text()
        for one in working.locator("div").all()
    }
    assert number(lines["π"].split(",")[0]) == pytest.approx(own, abs=1e-4)
    assert number(lines["score"].split("=")[1]) == pytest.approx(terms.sum() + own, abs=1e-4)
    weight = run[f"{at}.weights"][head, i, j]
    assert number(lines["weight"]) == pytest.approx(weight, abs=1e-4)


def test_a_share_shows_the_same_numbers_when_its_model_has_gone(
    page: Page, watch: Watch, server: AppServer, tmp_path: Path, server_cache: Path
) -> None:
    bundles = server.data_dir.parent
    name, gone = "additive-relative-window", {"zoo": "false"}
    place = {"block": "encoder", "layer": 1, "head": 2, "query": 3, "key": 4, "view": "attention"}
    state = {"source": SOURCE, "target": TARGET, "model": name, **place}
    said: list[str] = []
    for models in (f"{name}={bundles / name}", f"rotary={bundles / 'rotary'}"):
        settings = {"models": models, **gone}
        with running_app(tmp_path / "data", settings, warm=True, cache=server_cache) as running:
            if not said:
                made = client.post(f"{running.url}/api/shares", json={"state": state}).json()
            page.goto(f"{running.url}/s/{made['id']}")
            working = page.locator("#working")
            expect(working).to_contain_text("w · tanh")
            expect(working).to_contain_text("π")
            said.append(working.inner_text())
    assert said[0] == said[1]


def test_q_before_and_after_the_rotation(opened: Workspace, server: AppServer) -> None:
    at, head = "encoder.1.self", 1
    place = {"source": SOURCE, "target": TARGET, "model": "rotary", "block": "encoder"}
    run = traced(server, "rotary", f"{at}.q", "encoder.0.ffn.norm")
    learned = parameters(server, "rotary", f"{at}.W_q", f"{at}.b_q")
    flat = run["encoder.0.ffn.norm"] @ learned[f"{at}.W_q"] + learned[f"{at}.b_q"]
    for rotation, expected in (("after", run[f"{at}.q"][head]), ("before", flat[:, 8:16])):
        opened.open(**place, view="qkv", layer=1, head=head, rotation=rotation)
        opened.settled()
        shown = opened.charts("#view .panel.q")[0].values
        np.testing.assert_allclose(shown, expected, atol=1e-4)
    expect(opened.find("#view .panel:visible")).to_have_count(3)


def test_learned_rows_are_those_of_the_model_and_none_are_said_to_be_none(
    opened: Workspace, server: AppServer
) -> None:
    place = {"source": SOURCE, "target": TARGET, "model": "learned", "block": "encoder"}
    opened.open(**place, view="positions", layer=0, head=0)
    expect(opened.find("#caption")).to_contain_text("Every position has a row of its own")
    expect(opened.find("#map .inputs")).to_have_text("embedding + position")
    expect(opened.find("#view")).not_to_contain_text("sines")
    table = parameters(server, "learned", "encoder.positions.table")["encoder.positions.table"]
    opened.settled()
    shown = opened.charts("#view .stacked")[0].values
    np.testing.assert_allclose(shown, table[: len(shown)], atol=1e-4)
    place |= {"model": "none-additive-one-head"}
    opened.open(**place, view="positions", layer=1, head=0)
    expect(opened.find("#view .where-positions")).to_contain_text("no positions")
    expect(opened.find("#map .inputs")).to_have_text("embedding")
    expect(opened.find("#view .runs:visible")).to_have_count(1)
    expect(opened.find("#view .runs:visible h3")).to_have_text("Without positions")
    said = opened.find("#view .runs:visible .result b").inner_text()
    assert "10⁻" in said or said == "0"


def relative_charts(opened: Workspace) -> list[np.ndarray[Any, Any]]:
    """Return π of each offset, the scores without it, its term and the scores, once drawn."""
    expect(opened.find("#view .positions .chart[data-drawn]:visible")).to_have_count(4)
    return [one.values for one in opened.charts("#view .positions")]


def test_the_relative_term_is_a_matrix(opened: Workspace, server: AppServer) -> None:
    for name in ["relative", "none-additive-one-head", "clipped-product-pre"]:
        at, head = "encoder.1.self", 1
        place = {"source": SOURCE, "target": TARGET, "model": name, "block": "encoder"}
        opened.open(**place, view="positions", layer=1, head=head)
        opened.settled()
        if name.startswith("none"):  # it has another picture, which the next model has too
            expect(opened.find("#view .runs:visible")).to_have_count(1)
            continue
        pi = parameters(server, name, "encoder.positions.pi")["encoder.positions.pi"]
        scores = traced(server, name, f"{at}.scores")[f"{at}.scores"][head]
        offsets, plain, term, score = relative_charts(opened)
        assert offsets.shape == (4, 2 * len(score) - 1)
        n, most = len(score), (pi.shape[1] - 1) // 2
        clipped = np.clip(np.subtract.outer(np.arange(n), np.arange(n)).T, -most, most)
        np.testing.assert_allclose(term, pi[head][clipped.T + most].T, atol=1e-4)
        np.testing.assert_allclose(score, scores, atol=1e-4)
        together = plain + term if name == "relative" else plain * term
        np.testing.assert_allclose(together, scores, atol=1e-4)


def test_keys_read_the_relative_term_aloud(opened: Workspace) -> None:
    place = {"source": SOURCE, "target": TARGET, "model": "relative", "block": "encoder"}
    opened.open(**place, view="positions", layer=1, head=1)
    opened.settled()
    said = opened.find("#announce")
    pi, plain, term, score = relative_charts(opened)
    named = ("score without π", plain), ("π of the offset", term), ("score", score)
    for n, (name, values) in enumerate(named, 1):
        opened.find("#view .positions .matrix").nth(n).focus()
        opened.page.keyboard.press("ArrowRight")
        value = f"{values[0, 1]:.4f}".replace("-", "−")
        expect(said).to_have_text(re.compile(rf"^{name}: .+ {value}$"))
        opened.page.keyboard.press("Escape")
        expect(said).to_have_text("Unpinned.")
    opened.find("#view .positions .matrix").first.focus()
    opened.page.keyboard.press("ArrowDown")
    opened.page.keyboard.press("ArrowRight")
    value = f"{pi[2, 1]:.4f}".replace("-", "−")
    expect(said).to_have_text(re.compile(rf"^π of each head and offset: head 3 .+ {value}$"))
    assert opened.link["head"] == "2"


def test_a_window_is_masked_cells(opened: Workspace) -> None:
    place = {"source": SOURCE, "target": TARGET, "model": "each-layer-window-pre"}
    opened.open(**place, block="decoder", view="attention", layer=1, head=1)
    drawn = opened.figure()[0]
    i, j = np.indices(drawn.shape)
    np.testing.assert_array_equal(np.isnan(drawn), (i - j >= 3) | (j > i))
    seen = {"encoder": "(window: 1 to each side)", "decoder": "(window: itself and 2 before)"}
    for block, view in (("decoder", "lines"), ("encoder", "attention")):
        opened.open(**place, block=block, view=view, layer=1, head=1, query=4, key=0)
        expect(opened.find("#caption")).to_contain_text(seen[block])
        expect(opened.find("#pair-mask")).to_contain_text("masked")


def test_q_k_v_shows_what_additive_scoring_adds(opened: Workspace, server: AppServer) -> None:
    """The view shows w · tanh(q + k + b) of a query: a row per key, which sums to the score."""
    name, head, i, block, at = "additive-relative-window", 2, 3, "encoder", "encoder.1.self"
    place = {"source": SOURCE, "target": TARGET, "model": name, "block": block}
    opened.open(**place, view="qkv", layer=1, head=head, query=i, key=2)
    opened.settled()
    expect(opened.find("#view .terms h3")).to_have_text("w · tanh(q + k + b)")
    run = traced(server, name, f"{at}.q", f"{at}.k", f"{at}.mask")
    learned = parameters(server, name, f"{at}.scoring.*")
    w, b = learned[f"{at}.scoring.w"][head], learned[f"{at}.scoring.b"][head]
    expected = w * np.tanh(run[f"{at}.q"][head, i] + run[f"{at}.k"][head] + b)
    expected[run[f"{at}.mask"][i] == 0] = np.nan
    assert np.isnan(expected).any()
    shown = opened.charts("#view .terms")[0].values
    np.testing.assert_allclose(shown, expected, atol=1e-4)
