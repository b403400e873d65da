"""The introduction: what newcomers see first, and who does not see it."""

from typing import Any

from playwright.sync_api import expect

from tests.browsing import api
from tests.browsing.api import client
from tests.browsing.axe import violations
from tests.browsing.legible import overflow
from tests.browsing.page_settles import PLAYING
from tests.browsing.workspace import Workspace

SAYS = "#opening-says"
# Each example, the output word that shows it, and the source words that it must attend to.
EXAMPLES = {
    "en": [
        ("word order", "买", "bought"),
        ("negation", "不", "not"),
        ("a relative clause", "书", "book"),
        ("a reason", "因", "because"),
    ],
    "zh": [
        ("语序", "yesterday", "昨天"),
        ("否定", "don't", "不"),
        ("定语从句", "man", "人"),
        ("地点", "library", "图书馆"),
    ],
}


def arrive(workspace: Workspace, lang: str = "en", query: str = "") -> None:
    """Open `/` as a first-time visitor."""
    workspace.page.goto(f"{workspace.url}/?lang={lang}{query}")
    expect(workspace.find(SAYS)).not_to_be_empty()


def weights_of(workspace: Workspace, source: str, rows: str) -> tuple[Any, dict[str, Any]]:
    """Return the weights of the head that aligns best by these rows, and its trace."""
    (model, *_) = client.get(f"{workspace.url}/api/models").json()
    head = next(one for one in model["aligners"] if one["rows"] == rows)
    name = f"decoder.{head['layer']}.cross.weights"
    trace = api.trace(workspace.url, name, source=source)
    return api.arrays(trace)[name][head["head"]], trace


def test_a_newcomer_reads_a_sentence_that_the_numbers_say(workspace: Workspace) -> None:
    arrive(workspace)
    expect(workspace.find(SAYS)).to_have_text(
        "Attention decides which words a model looks at. "
        "Here: while writing 买 (bought), it looks at bought."
    )
    for selector in (".band", ".stage", ".thumbbar"):
        expect(workspace.find(selector)).to_be_hidden()
    source = workspace.link["source"]
    weights, trace = weights_of(workspace, source, "writes")
    tokens = [token["text"].strip() for token in trace["tokens"]["source"]]
    words = workspace.find(".words.to button")
    for row, token in enumerate(trace["output"]["tokens"][:-1]):
        words.nth(row).click()
        said = workspace.find(SAYS).inner_text()
        assert f"while writing {token['text']}" in said
        best = int(weights[row].argmax())
        if weights[row, best] > 0.5:
            assert said.endswith(f"it looks at {tokens[best]}.")
        # A line for each visible weight, the thickest for the largest.
        widths = workspace.find(".threads-of-one path").evaluate_all(
            "paths => paths.map((path) => Number(path.getAttribute('stroke-width')))"
        )
        assert len(widths) == (weights[row, 1:-1] >= 0.05).sum()
    # Glosses are what the aligning head has settled on.
    weights, trace = weights_of(workspace, source, "reads")
    glosses = workspace.find(".words.to .gloss").all_inner_texts()
    assert len(glosses) == len(trace["output"]["tokens"]) - 1
    for row, gloss in enumerate(glosses[:-1]):
        read = weights[row + 1]
        sure = read.max() >= 0.7
        assert gloss.strip() == (tokens[int(read.argmax())] if sure else ""), row
    assert glosses[-1].strip() == "", "a full stop means nothing"
    workspace.find("#opening-gloss").uncheck()
    expect(workspace.find(".gloss")).to_have_count(0)
    expect(workspace.find(SAYS)).not_to_contain_text("(")
    assert workspace.link["glosses"] == "0"


def test_each_example_shows_what_its_name_says(workspace: Workspace) -> None:
    for lang in EXAMPLES:
        arrive(workspace, lang)
        own = workspace.find(".opening-examples").first
        expect(own.get_by_role("button")).to_have_text([name for name, *_ in EXAMPLES[lang]])
        for name, written, key in EXAMPLES[lang]:
            own.get_by_role("button", name=name, exact=True).click()
            expect(workspace.find(f"{SAYS} .as-query")).to_have_text(written)
            keys = workspace.find(f"{SAYS} .as-key").all_inner_texts()
            assert keys
            assert all(one.rstrip("₁₂") in key for one in keys)


# By how many pixels a line, as wide as it is, overlaps the box of a word that it does not join.
OVERLAPPED = """() => {
    const frame = document.querySelector('.pairing').getBoundingClientRect();
    const boxes = [...document.querySelectorAll('.words li')].map((word) => ({
        text: word.textContent, ...word.getBoundingClientRect().toJSON(),
    }));
    const beside = (low, value, high) => Math.max(low - value, 0, value - high);
    const distance = ({ left, right, top, bottom }, { x, y }) =>
        Math.hypot(beside(left, x + frame.x, right), beside(top, y + frame.y, bottom));
    return [...document.querySelectorAll('.pairing path')].flatMap((path) => {
        const length = path.getTotalLength();
        const at = (_, i) => path.getPointAtLength(i * length / 200);
        const points = Array.from({ length: 201 }, at);
        const half = Number(path.getAttribute('stroke-width')) / 2;
        const joins = (box) => [points[0], points[200]].some((end) => distance(box, end) < 1);
        const nearest = (box) => Math.min(...points.map((point) => distance(box, point)));
        return boxes.filter((box) => !joins(box))
            .map((box) => [box.text, half - nearest(box)])
            .filter(([, overlap]) => overlap > 0.1);
    });
}"""


def test_no_line_touches_a_word(workspace: Workspace) -> None:
    workspace.page.set_viewport_size({"width": 390, "height": 844})
    arrive(workspace)
    words = workspace.find(".words li")
    tops = words.evaluate_all("words => words.map((word) => word.getBoundingClientRect().top)")
    assert len({*tops}) > 2, "the words of a side are in several rows"
    for word in workspace.find(".words.to button").all():
        word.click()
        assert workspace.page.evaluate(OVERLAPPED) == []


def test_it_plays_until_it_is_touched_and_not_where_motion_is_unwelcome(
    workspace: Workspace,
) -> None:
    arrive(workspace)
    expect(workspace.find("#opening-play")).to_contain_text("Play")
    assert not workspace.page.evaluate(PLAYING)
    workspace.page.emulate_media(reduced_motion="no-preference")
    arrive(workspace)
    lit = "() => document.querySelector('.words.to [aria-pressed=true]')?.textContent"
    first = workspace.page.evaluate(lit)
    assert workspace.page.evaluate(PLAYING)
    workspace.page.wait_for_function(f"(first) => ({lit})() !== first", arg=first)
    expect(workspace.find("#opening-play")).to_contain_text("Pause")
    workspace.find(".words.to button").nth(2).click()
    expect(workspace.find("#opening-play")).to_contain_text("Play")
    chosen = workspace.page.evaluate(lit)
    assert not workspace.page.evaluate(PLAYING)
    assert workspace.page.evaluate(lit) == chosen


def test_a_returning_visitor_gets_the_workspace_and_back_leads_back(workspace: Workspace) -> None:
    arrive(workspace)
    workspace.find("#door-explore").click()
    workspace.drawn()
    workspace.page.go_back()
    expect(workspace.find(SAYS)).to_be_visible()
    workspace.find("#door-explore").click()
    workspace.drawn()
    expect(workspace.find("#view .matrix")).to_be_visible()
    assert "opening" not in workspace.link
    workspace.page.goto(workspace.url)
    workspace.drawn()
    expect(workspace.find("#opening")).to_be_hidden()
    workspace.find("#more").click()
    workspace.find("#more-panel").get_by_text("Introduction").click()
    expect(workspace.find(SAYS)).to_be_visible()
    workspace.page.goto(f"{workspace.url}/?source=The+cat+sits.&view=lines")
    workspace.drawn()
    expect(workspace.find("#opening")).to_be_hidden()
    assert workspace.link["view"] == "lines"


def test_type_my_own_waits_for_a_sentence(workspace: Workspace) -> None:
    arrive(workspace)
    workspace.find("#door-type").click()
    expect(workspace.find("#source")).to_be_focused()
    workspace.page.keyboard.type("I have two dogs.")
    workspace.says("I have two dogs.")
    assert workspace.link["view"] == "alignment"


def test_it_fits_and_is_accessible(workspace: Workspace) -> None:
    arrive(workspace, "zh")
    for width in (1440, 320):
        workspace.page.set_viewport_size({"width": width, "height": 700})
        assert not overflow(workspace.page, width)
        assert violations(workspace.page) == []
    expect(workspace.find(SAYS)).to_contain_text("注意力")
