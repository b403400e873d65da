"""What the page says when the model is unsure: marks, a line, the caption, and the reasons."""

import math
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browsing import api
from tests.browsing.api import client
from tests.browsing.axe import violations
from tests.browsing.watch import Watch
from tests.browsing.workspace import Workspace

RIGHT = "I love you."
WRONG = "The trophy wouldn't fit in the suitcase."
NONSENSE = "asdf qwer"
# Only some of its words are doubtful.
PARTLY_WRONG = "Two dogs chased the cat up a tree."
LINE = "#certainty"


def test_a_right_short_sentence_shows_nothing(workspace: Workspace) -> None:
    for source in (RIGHT, "我爱你。"):
        workspace.open(source=source, view="attention")
        expect(workspace.find(LINE)).to_be_hidden()
        assert workspace.find(".doubtful, .passed-over").count() == 0
        expect(workspace.find("#caption")).not_to_contain_text("improbable")


def test_doubtful_words_are_those_that_the_numbers_say(workspace: Workspace) -> None:
    workspace.open(source=WRONG, view="attention")
    (model, *_) = client.get(f"{workspace.url}/api/models").json()
    output = api.trace(workspace.url, source=WRONG)["output"]
    mean = math.exp(sum(output["logprobs"]) / len(output["logprobs"]))
    doubtful = [
        token["text"]
        for token, logprob in zip(output["tokens"], output["logprobs"], strict=True)
        if token["text"].strip().isalnum()
        and math.exp(logprob) * mean <= model["certainty"]["word"]
    ]
    assert doubtful
    assert workspace.find("#output .doubtful").all_inner_texts() == doubtful
    assert workspace.find("#target-tokens .chip.doubtful").count() == len(doubtful)
    expect(workspace.find("#output")).to_have_text(output["text"])
    expect(workspace.find(LINE)).to_be_visible()


def test_the_caption_follows_and_the_menu_leads_on(workspace: Workspace) -> None:
    workspace.open(source=NONSENSE, view="attention", block="cross", layer=2, head=0, query=0)
    expect(workspace.find(LINE)).to_contain_text("This small model is often wrong here.")
    expect(workspace.find("#caption")).to_contain_text("). But the translation is improbable.")
    assert violations(workspace.page) == []
    button = workspace.find(LINE).get_by_role("button", name="Why is it wrong?")
    button.click()
    workspace.find(LINE).get_by_role("button", name="Candidates").click()
    assert workspace.link["view"] == "decoding"
    expect(workspace.find("#why-wrong")).to_be_hidden()
    button.click()
    workspace.find(LINE).get_by_role("button", name="Sources").click()
    assert workspace.link["view"] == "alignment"
    button.click()
    workspace.find(LINE).get_by_role("button", name="Unknown words").click()
    expect(workspace.find("#source-tokens .chip").nth(1)).to_be_focused()


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_caption_follows_in_every_view_of_a_row_and_names_a_supervised_head(
    workspace: Workspace, lang: str
) -> None:
    (model, *_) = client.get(f"{workspace.url}/api/models").json()
    taught = model["taught"][0]
    place = {"block": "cross", "layer": taught["layer"], "head": taught["head"], "query": 1}
    improbable, word, supervised = {
        "en": ("But the translation is improbable.", "But this word is improbable", "supervised"),
        "zh": ("但这个译文的概率很低。", "但这个词的概率很低", "加入了对齐监督"),
    }[lang]
    output = api.trace(workspace.url, source=PARTLY_WRONG)["output"]
    mean = math.exp(sum(output["logprobs"]) / len(output["logprobs"]))
    assert mean > model["certainty"]["text"]
    row = min(
        (row for row, token in enumerate(output["tokens"]) if token["text"].strip().isalnum()),
        key=lambda row: output["logprobs"][row],
    )
    probability = math.exp(output["logprobs"][row])
    assert probability * mean <= model["certainty"]["word"]
    for view in ["attention", "lines", "qkv", "space", "alignment", "worksheet"]:
        key = {"key": 1} if view == "worksheet" else {}
        workspace.open(source=NONSENSE, view=view, lang=lang, **place, **key)
        expect(workspace.find("#caption")).to_contain_text(improbable)
        expect(workspace.find("#caption")).to_contain_text(supervised)
        workspace.open(source=PARTLY_WRONG, view=view, lang=lang, **place | {"query": row}, **key)
        expect(workspace.find("#caption")).to_contain_text(word)
        expect(workspace.find("#caption")).to_contain_text(f"{probability:.2f}")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_phone_speaks_of_underlined_words_only_where_they_are_seen(
    workspace: Workspace, lang: str
) -> None:
    workspace.page.set_viewport_size({"width": 390, "height": 844})
    workspace.load(source=PARTLY_WRONG, view="attention", lang=lang)
    workspace.settled()
    explained = workspace.find(f"{LINE} .doubtful")
    marked = workspace.find("#output .doubtful")
    folded = "el => getComputedStyle(el, '::before').content"
    assert workspace.find(f"{LINE} .of-underlined").evaluate(folded) != "none"
    expect(workspace.find(LINE)).to_be_visible()
    expect(explained).to_be_hidden()
    expect(marked.first).to_be_hidden()
    workspace.find("#band-open").click()
    expect(explained).to_be_visible()
    expect(marked.first).to_be_visible()
    assert workspace.find(f"{LINE} .of-underlined").evaluate(folded) == "none"


def test_a_share_and_a_handout_have_the_same_marks(
    workspace: Workspace, tmp_path: Path, watch: Watch
) -> None:
    watch.expect("request to elsewhere: file:")
    workspace.open(source=WRONG, view="attention")
    marks = workspace.find("#output .doubtful").all_inner_texts()
    line = workspace.find(f"{LINE} .says").inner_text()
    address = workspace.share()
    workspace.page.goto(address)
    expect(workspace.find(f"{LINE} .says")).to_have_text(line)
    assert workspace.find("#output .doubtful").all_inner_texts() == marks
    handout = tmp_path / "handout.html"
    handout.write_bytes(client.get(f"{address.split('?')[0]}/handout.html").content)
    workspace.page.goto(handout.as_uri())
    expect(workspace.find(f"{LINE} .says")).to_have_text(line)
    assert workspace.find("#output .doubtful").all_inner_texts() == marks


def test_nothing_is_said_of_a_changed_model_or_one_that_was_not_measured(
    workspace: Workspace,
) -> None:
    change = {"at": "decoder.0.cross", "head": 4, "do": "zero"}
    workspace.open(source=NONSENSE, view="attention", interventions=[change])
    expect(workspace.find(LINE)).to_be_hidden()
    workspace.open(model="zoo-reverse-relative", source="a b c d", view="attention")
    expect(workspace.find(LINE)).to_be_hidden()
