"""Predictions in any element: questions in, answers out, and a page that decides when to reveal."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browsing import api
from tests.browsing.axe import violations
from tests.browsing.legible import overflow
from tests.servers import AppServer

SENTENCE = "She bought a red book yesterday."
LINK = f"source={SENTENCE.replace(' ', '+')}&block=cross&layer=2&head=0&query=1"
MAKE = """async ([js, plan]) => {
    const [api, around, sources, predict] = await Promise.all(
        ["core/wire/api", "core/page/page-context", "core/store/data-sources", "ask/predict"]
            .map((name) => import(`${js}/${name}.js`)),
    );
    const server = api.createApi((...request) => fetch(...request));
    const page = around.createPageContext(window, { live: document.querySelector("#announce") });
    const root = document.createElement("div");
    root.id = "here";
    document.querySelector("main").append(root);
    const answers = { source: sources.served(server), compute: (body) => server.lab(body) };
    window.told = [];
    window.results = [];
    window.prediction = predict.createPrediction({
        root, page, sources: answers,
        onAnswer: (answer) => window.told.push(answer),
        onReveal: (result) => window.results.push(result),
        ...plan,
    });
}"""


class Asker:
    """A page with one prediction."""

    def __init__(self, page: Page, server: AppServer) -> None:
        self.page = page
        self.server = server

    def ask(self, question: dict[str, Any], **plan: Any) -> Locator:
        """Create a prediction, and return its element once its choices are shown."""
        if self.page.locator("#here").count():
            self.page.evaluate("document.querySelector('#here').remove()")
        else:
            self.page.goto(f"{self.server.url}/learn?lang=en")
        css = self.page.locator("link[href$='learn.css']").get_attribute("href") or ""
        js = css.replace("page/learn.css", "js")
        self.page.evaluate(MAKE, [js, {"question": question, "label": "Which one?", **plan}])
        here = self.page.locator("#here")
        expect(here.get_by_role("group", name="Which one?").locator("> *").first).to_be_visible()
        return here

    def weights(self, query: int) -> list[float]:
        """Return a row of the head, from the API."""
        found = api.tensors(self.server.url, "decoder.2.cross.weights", source=SENTENCE)
        row: list[float] = found["decoder.2.cross.weights"][0, query].tolist()
        return row


@pytest.fixture
def asker(page: Page, live_server: AppServer) -> Asker:
    return Asker(page, live_server)


def test_the_page_around_it_decides_when_to_reveal(asker: Asker) -> None:
    here = asker.ask({"kind": "looks", "link": LINK}, controls=False)
    page = asker.page
    expect(here.get_by_role("button", name="Reveal")).to_have_count(0)
    here.get_by_role("button", name="bought").click()
    assert page.evaluate("window.told") == [page.evaluate("window.prediction.answer()")]
    page.evaluate("window.prediction.close()")
    expect(here.get_by_role("button", name="book")).to_be_disabled()
    page.evaluate("window.prediction.tally([['2'], ['2'], ['6']])")
    expect(here.get_by_role("button", name="bought")).to_contain_text("chosen by 2")
    result = page.evaluate("window.prediction.reveal()")
    assert (result["answer"], result["right"]) == (["2"], False)
    assert result == page.evaluate("window.results[0]")
    weights = asker.weights(1)
    assert result["revealed"]["right"] == [str(weights.index(max(weights)))]
    expect(here.get_by_role("button", name="yesterday")).to_contain_text(f"{max(weights):.2f}")
    assert violations(page) == []


def test_a_row_is_drawn_on_a_phone(asker: Asker) -> None:
    page = asker.page
    page.set_viewport_size({"width": 390, "height": 800})
    here = asker.ask({"kind": "row", "link": LINK})
    weights = asker.weights(1)
    bars = here.get_by_role("slider")
    expect(bars).to_have_count(len(weights))
    reveal = here.get_by_role("button", name="Reveal", exact=True)
    expect(reveal).to_be_disabled()
    best = weights.index(max(weights))
    bars.nth(best).scroll_into_view_if_needed()
    box = bars.nth(best).bounding_box()
    assert box
    assert box["height"] >= 32
    page.mouse.move(box["x"] + 8, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.8, box["y"] + box["height"] / 2, steps=5)
    page.mouse.up()
    expect(bars.nth(best)).to_have_attribute("aria-valuetext", "1.00")
    bars.nth(0).focus()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    drawn = [float(bar.input_value()) for bar in bars.all()]
    shares = [one / sum(drawn) for one in drawn]
    agree = sum(min(pair) for pair in zip(shares, weights, strict=True))
    reveal.click()
    expect(here.locator(".verdict")).to_contain_text(f"agree on {agree:.2f} of the weight")
    assert page.evaluate("window.results[0].right") == (agree >= 0.7)
    assert not overflow(page, 390)
    assert violations(page) == []


def test_a_weight_is_estimated_a_number_given_and_a_step_computed(asker: Asker) -> None:
    best = max(asker.weights(1))
    assert abs(best - 0.9) < 0.1
    key = asker.weights(1).index(best)
    here = asker.ask({"kind": "number", "link": f"{LINK}&key={key}", "within": 0.1})
    field = here.get_by_label("yesterday")
    field.fill("much")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(here.get_by_role("button", name="Reveal", exact=True)).to_be_disabled()
    field.fill("0.3")
    here.get_by_role("button", name="Reveal", exact=True).press("Enter")
    expect(here.locator(".verdict")).to_be_focused()
    expect(here.locator(".truth")).to_contain_text(f"{best:.4f}")
    assert asker.page.evaluate("window.results[0].right") is False
    page = asker.page
    here = asker.ask({"kind": "number", "link": "", "value": 7}, answer=["7"])
    here.get_by_role("button", name="Reveal", exact=True).click()
    expect(here.locator(".verdict")).to_contain_text("You were right")
    lab = "x=1_0*0_1*1_1&w_q=1_0*0_1&w_k=1_0*0_1&w_v=1_0*0_1&scoring=dot&tokens=a%0Ab%0Ac"
    asked = {"kind": "number", "link": lab, "page": "lab", "step": "weights", "row": 2, "column": 2}
    here = asker.ask(asked, answer=["0.58"])
    result = page.evaluate("window.prediction.reveal()")
    assert result["revealed"]["numbers"] == [pytest.approx(0.5761, abs=1e-4)]
    assert result["right"] is True


def test_a_kind_words_its_own_question_and_an_unknown_one_is_refused(asker: Asker) -> None:
    asker.ask({"kind": "looks", "link": LINK})
    page = asker.page
    said = """async ([js, question]) => {
        const [api, around, sources, { KINDS }, { ask }, { render }] = await Promise.all(
            ["core/wire/api", "core/page/page-context", "core/store/data-sources",
             "ask/question-kinds", "ask/question", "lib/dom"]
            .map((name) => import(`${js}/${name}.js`)),
        );
        const server = api.createApi((...request) => fetch(...request));
        const page = around.createPageContext(window, { live: document.body });
        const root = document.createElement("p");
        const ways = { source: sources.served(server) };
        render(root, await KINDS[question.kind].words(ask(page, ways, question)));
        return root.textContent;
    }"""
    css = page.locator("link[href$='learn.css']").get_attribute("href") or ""
    js = css.replace("page/learn.css", "js")
    words = {
        kind: page.evaluate(said, [js, {"kind": kind, "link": f"{LINK}&key=6"}])
        for kind in ("looks", "head", "next", "off", "row", "number")
    }
    assert words["looks"].startswith("Layer 3, head 1: which token")
    assert "她" in words["looks"]
    assert words["head"].startswith("Layer 3: which head looks from")
    assert re.search(r"from .*她.* to .*yesterday", words["number"])
    assert "head 1 of layer 3" in words["off"]
    assert all(not re.search(r"[{}]|undefined", one) for one in words.values())
    with pytest.raises(Exception, match="unknown kind of question: smells"):
        page.evaluate(MAKE, [js, {"question": {"kind": "smells"}}])
