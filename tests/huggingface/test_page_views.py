"""Views of a model's inside: logits, attention sinks, the worksheet."""

import pytest
from playwright.sync_api import expect

from tests.browsing.api import client
from tests.browsing.workspace import Workspace
from tests.huggingface.answers import TEXT

# How many long tokens are cut, and how many are wider than their cell.
CUT = """() => {
    const tokens = [...document.querySelectorAll(".lens .would .token")];
    for (const token of tokens) token.textContent = "<extra_id_42>";
    const right = (element) => element.getBoundingClientRect().right;
    return [
        tokens.filter((token) => token.scrollWidth > token.clientWidth).length,
        tokens.filter((token) => right(token) > right(token.closest("td"))).length,
    ];
}"""


def test_inside_takes_a_prediction_apart_or_says_that_it_is_no_sum(workspace: Workspace) -> None:
    page = workspace.page
    workspace.open(model="llama", source=TEXT, view="inside", query=1)
    expect(page.locator("#view .lens tbody tr")).to_have_count(2)
    asked = {"text": TEXT, "model": "llama", "select": ["inside.logit.total"]}
    found = client.post(f"{workspace.url}/api/trace", json=asked).json()
    logit = found["tensors"]["inside.logit.total"]["data"][1]
    shown = f"{logit:.4f}".replace("-", "−")
    expect(page.locator("#view .balance")).to_contain_text(shown)
    expect(page.locator("#view .lens .own .token").first).to_contain_text("sat")  # the next one
    # A lens without a sum says so.
    workspace.open(model="bert", source=TEXT.replace("cat", "[MASK]"), view="inside", query=2)
    expect(page.locator("#view .lens tbody tr")).to_have_count(2)
    expect(page.locator("#view")).to_contain_text("not a sum of contributions")
    expect(page.locator("#view .of-heads")).to_have_count(0)
    # Long tokens of the lens are whole.
    workspace.open(model="t5", source=TEXT, view="inside", query=1)
    expect(workspace.page.locator("#view .lens tbody tr").first).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    workspace.settled()
    assert page.evaluate(CUT) == [0, 0]


def test_a_view_that_is_not_offered_says_why(workspace: Workspace) -> None:
    page = workspace.page
    workspace.open(model="llama", source=TEXT, view="lines", lang="zh")
    absent = page.locator("#views .absent", has_text="对齐")
    reads = "这个模型只读一段文字。"
    expect(absent).to_have_attribute("title", reads)
    absent.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".not-offered")).to_contain_text(reads)
    assert workspace.link["view"] == "lines"
    page.locator("#views").get_by_text("注意力", exact=True).click()
    expect(page.locator(".not-offered")).to_be_hidden()


def test_sinks_are_named_drawn_and_pooled(workspace: Workspace) -> None:
    page = workspace.page
    workspace.open(model="gpt-oss", source=TEXT, view="attention", layer=1, head=2)
    expect(page.locator("#view .notes")).to_contain_text("Query heads 3–4 share key head 2.")
    expect(page.locator("#view .notes")).to_contain_text("attention sink, which is not a token")
    asked = {"text": TEXT, "model": "gpt-oss", "select": ["decoder.1.self.sink"]}
    reply = client.post(f"{workspace.url}/api/trace", json=asked).json()
    sink = reply["tensors"]["decoder.1.self.sink"]["data"][2]
    average = f"{sum(sink) / len(sink):.2f} on average"
    expect(page.locator("#view .notes")).to_contain_text(average)
    expect(page.locator("#view .notes")).to_contain_text("A row and its sink together sum to 1.")
    expect(page.locator("#view .ends .label")).to_have_text("attention sink")
    workspace.open(model="gpt-oss", source=TEXT, view="attention", layer=1, head=2, query=3, key=1)
    expect(page.locator("#working")).to_contain_text(f"sink{sink[3]:.4f}")
    # A sink is a key of lines and an input of flow.
    asked = {"text": TEXT, "model": "gpt-oss", "select": ["decoder.*.self.*"]}
    found = client.post(f"{workspace.url}/api/trace", json=asked).json()
    count = len(found["tokens"]["text"])
    workspace.open(
        model="gpt-oss", source=TEXT, view="lines", layer=1, head=2, query=3, least=0, numbers=1
    )
    expect(page.locator('#view [data-end^="key"]')).to_have_count(count + 1)
    key = page.locator(f'#view [data-end="key {count}"]')
    expect(key).to_contain_text("attention sink")
    given = found["tensors"]["decoder.1.self.sink"]["data"][2][3]
    expect(key.locator(".weight")).to_have_text(f"{given:.2f}")
    key.click()
    assert workspace.link["query"] == "3"
    assert "key" not in workspace.link
    workspace.open(model="gpt-oss", source=TEXT, view="flow", layer=0, query=3)
    heads = found["tensors"]["decoder.0.self.sink"]["data"]
    rollout = sum(head[3] for head in heads) / len(heads) / 2
    last = page.locator(f'#view [data-leaf="{count}"]')
    expect(last).to_contain_text("attention sink")
    expect(last).to_contain_text(f"{rollout:.2f}")
    workspace.open(model="gpt-oss", source=TEXT, view="heads")
    expect(page.locator("#view .note")).to_contain_text("learned attention sink")
    # A pooled sink is pooled like the weights.
    workspace.open(model="gpt-oss", source=TEXT, view="attention", layer=1, pool="mean")
    sinks = found["tensors"]["decoder.1.self.sink"]["data"]
    for head, weights in zip(
        sinks, found["tensors"]["decoder.1.self.weights"]["data"], strict=True
    ):
        sums = [sum(row) + sink for row, sink in zip(weights, head, strict=True)]
        assert sums == pytest.approx([1.0] * len(sums), abs=1e-5)
    mean = sum(map(sum, sinks)) / (len(sinks) * len(sinks[0]))
    expect(page.locator("#view .notes")).to_contain_text(f"{mean:.2f} on average")


@pytest.mark.parametrize("model", ["bert", "gpt-oss"])
def test_the_worksheet_agrees_with_the_model(workspace: Workspace, model: str) -> None:
    page = workspace.page
    workspace.open(model=model, source=TEXT, view="worksheet", layer=1, head=1, step="all")
    expect(page.locator(".worksheet > div > .verdict").first).to_contain_text("Agrees")
    expect(page.locator(".verdict.differs")).to_have_count(0)
    turned = model in ("llama", "gpt-oss")
    expect(page.locator(".worksheet .dial")).to_have_count(8 if turned else 0)
