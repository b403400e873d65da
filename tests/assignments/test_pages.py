"""The pages of assignments, and the questions that links ask."""

import re

import httpx

from app.lessons.course import lessons
from app.lessons.markdown import Predict, plain
from app.lessons.pages import find
from app.store.documents import ID_LENGTH
from tests.assignments.assigning import made
from tests.serving.problem import hold
from tests.serving.storage import share


async def asked(client: httpx.AsyncClient, link: str, lang: str = "en") -> list[dict[str, object]]:
    reply = await client.get("/api/links", params={"link": link, "lang": lang})
    assert reply.status_code == 200, reply.text
    questions: list[dict[str, object]] = reply.json()["questions"]
    return questions


async def test_the_page_shows_texts_as_text_and_neither_answers_nor_key(
    client: httpx.AsyncClient,
) -> None:
    one = await made(client)
    page = await client.get(f"/a/{one.id.upper()}")
    assert page.status_code == 200
    assert "Week 3 &lt;b&gt;" in page.text
    assert "3 questions" in page.text
    assert "Week 3 <b>" not in page.text
    assert 'name="robots" content="noindex"' in page.text
    assert one.reply["key"] not in page.text
    assert "truth" not in page.text
    hold(await client.get(f"/a/{'2' * ID_LENGTH}"), 404, "unknown-assignment", "id")


async def test_the_lessons_whose_questions_can_be_taken(client: httpx.AsyncClient) -> None:
    page = (await client.get("/a?lang=en")).text
    offered = dict(
        re.findall(r'<option value="(/learn/[a-z-]+)">\d+ · .*\((\d+) questions?\)', page)
    )
    assert len(offered) == len(lessons())
    for link, count in offered.items():
        assert len(await asked(client, link)) == int(count), link


async def test_a_lesson_asks_in_the_readers_language(client: httpx.AsyncClient) -> None:
    english, chinese = [await asked(client, "/learn/scores", lang) for lang in ("en", "zh")]
    questions = [
        part.block for part in find("scores").document("en").parts if isinstance(part, Predict)
    ]
    for question, block in zip(english, questions, strict=True):
        assert (question["kind"], question["page"]) == (block.kind, "lab")
        for name in ("step", "row", "value", "within"):
            stated, given = block.fields.get(name), question.get(name)
            same = given == (float(stated) if stated and isinstance(given, float | int) else stated)
            assert same, (block, name)
    assert str(english[0]["words"]).startswith("Three keys")
    assert str(chinese[0]["words"]).startswith("三个键")


async def test_a_share_asks_about_the_place_on_which_it_opens(client: httpx.AsyncClient) -> None:
    asks = await share(client, about={"predict": "looks"})
    assert await asked(client, f"/s/{asks['id']}") == [
        {"kind": "looks", "link": "", "page": "workspace", "share": asks["id"], "words": ""}
    ]
    shows = await share(client)
    for link in (f"/s/{shows['id']}", "/learn/masks#figure-1", "/?source=Hi"):
        assert await asked(client, link) == []


def test_a_collection_offers_an_assignment_if_something_in_it_asks(
    reader: httpx.Client,
) -> None:
    for items, offered in (
        ([{"lesson": "masks"}], True),
        ([{"lesson": "masks", "figure": 1}], False),
    ):
        body = {"title": "Week 2", "items": items}
        one = reader.post("/api/collections", json=body).json()
        page = reader.get(f"/c/{one['id']}?lang=en").text
        (button,) = re.findall(f"<a [^>]*/a\\?of=/c/{one['id']}[^>]*>", page)
        assert (" hidden" in button) is not offered


def test_formulas_of_questions_are_readable_as_text() -> None:
    root = "<math><mi>q</mi><mo>/</mo><msqrt><mrow><mn>3</mn></mrow></msqrt></math>"
    assert plain(f"Fill in <em>it</em>: {root}.") == "Fill in it: q/√3."
    assert plain("<msqrt><mi>d</mi><mo>+</mo><mn>1</mn></msqrt>") == "√(d+1)"
    assert plain("<mi>sin</mi><mi>p</mi><mo>,</mo><mi>cos</mi><mi>p</mi>") == "sin p, cos p"
