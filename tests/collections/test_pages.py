"""The page and the handout of a collection."""

import io
import re
from urllib.parse import quote

import httpx
import pytest
from PIL import Image

from app.engine.reply_formats import Reply
from app.handouts.handout_html import COLLECTION_BYTES
from app.lessons.markdown import Predict, Text, unlinked
from app.lessons.pages import find
from app.store.documents import ID_LENGTH
from tests.collections.collecting import BODY, PATH, made
from tests.handouts.test_handout import numbers_in
from tests.serving.problem import hold
from tests.serving.storage import share


async def test_the_page_shows_texts_as_text(client: httpx.AsyncClient) -> None:
    one = await made(client)
    page = await client.get(f"/c/{one['id']}")
    assert page.status_code == 200
    text = page.text
    assert "Week 2 &lt;b&gt;" in text
    assert "<b>" not in re.sub(r"<b>\w", "", text)
    assert f'content="http://headlight/c/{one["id"]}/preview.png"' in text
    assert 'name="robots" content="noindex"' in text
    assert one["edit_key"] not in text
    picture = await client.get(f"/c/{one['id']}/preview.png")
    assert Image.open(io.BytesIO(picture.content)).size == (1200, 630)
    hold(await client.get(f"/c/{'2' * ID_LENGTH}"), 404, "unknown-collection", "id")


async def test_the_handout_has_every_item(client: httpx.AsyncClient) -> None:
    kept = (await share(client))["id"]
    one = await made(client, items=[*BODY["items"], {"share": kept}])
    file = await client.get(f"/c/{one['id']}/handout.html?theme=dark")
    assert file.headers["content-disposition"].startswith("attachment")
    page = file.content.decode()
    lesson = (await client.get("/learn/masks")).text
    by_hand = 1  # a table in the lesson, live in the file
    figures = 4 + by_hand + lesson.count('<img class="still"')
    assert page.count('<div class="still"') == lesson.count('<div class="still"') - by_hand == 1
    assert len(re.findall(r'id="item-\d+-data"', page)) == figures
    assert page.count('id="script"') == 1
    assert "Week 2 &lt;b&gt;" in page
    assert "Which word?" in page
    assert not re.search(r'(?:src|href)="(?:https?:)?//(?!headlight)', page)
    assert one["edit_key"] not in page


async def test_a_handout_says_nothing_that_needs_a_server(client: httpx.AsyncClient) -> None:
    one = await made(client, items=[{"lesson": "masks"}, {"lesson": "masks", "figure": 1}])
    file = (await client.get(f"/c/{one['id']}/handout.html")).content.decode()
    said = "causal mask. <em>the</em> wants the noun after it, but may look only at itself."
    assert file.count(said) == 2
    live = "Choose other masks above."
    assert live not in file
    page = (await client.get(f"/c/{one['id']}")).text
    assert (page.count(said), page.count(live)) == (1, 1)  # of the lesson, its claim
    for address in ("/learn/masks", f"/api/links?link={quote('/learn/masks#figure-1')}"):
        assert live in (await client.get(address)).text


async def test_a_handout_says_what_is_in_place_of_a_figure(client: httpx.AsyncClient) -> None:
    one = await made(client, items=[{"lesson": "training"}, {"lesson": "what-a-head-does"}])
    file = (await client.get(f"/c/{one['id']}/handout.html")).content.decode()
    remarks = re.findall('class="remark">([^<]*)<', file)
    assert [one.partition(".")[0] for one in remarks] == [
        "A training run cannot be in a file",
        "In this file the figure is a matrix of the attention weights",
    ]


async def test_a_lesson_is_in_the_handout_with_its_text_and_questions(
    client: httpx.AsyncClient,
) -> None:
    items = [{"lesson": "ten-minutes", "note": "Public.", "private": "Do not tell them."}]
    one = await made(client, items=items)
    content = (await client.get(f"/c/{one['id']}/handout.html?lang=en")).content
    file = content.decode()
    document = find("ten-minutes").document("en")
    for part in document.parts:
        if isinstance(part, Text):
            assert unlinked(part.html) in file
        elif isinstance(part, Predict):
            assert unlinked(part.question) in file
            assert unlinked(part.why) in file
    assert "#term-" not in file
    assert "Public." in file
    assert "Do not tell them." not in file
    assert len(content) <= COLLECTION_BYTES
    assert "data-same" in file, "figures of one sentence have its numbers once"
    for note in document.notes:
        assert note not in file
    # Figures whose head is switched off show it as the model has it.
    assert "as the model has it" in file
    for n in re.findall(r'id="item-(\d+)-data-planes"', file):
        kept = Reply.metadata(numbers_in(file, f"item-{n}-data"))["share"]
        assert not kept["state"].get("interventions")


async def test_a_long_collection_says_which_figures_its_handout_leaves_out(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = [{"link": f"/?source=The+cat+number+{n}+sat."} for n in range(3)]
    one = await made(client, items=items)
    sizes: list[int] = []
    for limit in (COLLECTION_BYTES, 1, 0):
        if not limit:  # room for some, in few digits
            limit = sizes[-1] + 90_000
        monkeypatch.setattr("app.handouts.handout_html.COLLECTION_BYTES", limit)
        content = (await client.get(f"/c/{one['id']}/handout.html?lang=en")).content
        left_out = content.decode().count("this figure is not in it")
        assert len(content) <= limit or left_out == 3
        assert len(re.findall(r'<figure class="live" data-page', content.decode())) == 3 - left_out
        sizes.append(len(content))
    assert sizes[0] > sizes[2] > sizes[1]


async def test_the_handout_of_a_copy_names_its_origin(client: httpx.AsyncClient) -> None:
    one = await made(client, items=[{"link": "/?source=Hi"}])
    copy = (await client.post(f"{PATH}/{one['id']}/copies")).json()
    file = (await client.get(f"/c/{copy['id']}/handout.html?lang=en")).text
    assert f'/c/{one["id"]}">Week 2 &lt;b&gt;</a>' in file
    assert "After" not in (await client.get(f"/c/{one['id']}/handout.html?lang=en")).text
