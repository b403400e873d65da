"""The links of a collection: their forms, what each shows, and what is refused."""

import io
import re
from urllib.parse import parse_qs, urlencode

import httpx
import pytest
from PIL import Image

from app.lessons.course import Lesson, lessons
from app.lessons.markdown import Figure
from tests.collections.collecting import BODY, BY_HAND, FIGURE, PATH, SENTENCE, made
from tests.serving.fixtures import Serving
from tests.serving.problem import hold
from tests.serving.storage import share
from tests.serving.training import EAGER, SMALL, forget, start, until


async def test_links_have_one_form(client: httpx.AsyncClient) -> None:
    kept = (await share(client))["id"]
    forms = {
        f"http://headlight{SENTENCE}&lang=zh&projector=1": SENTENCE,
        f"https://another.name/s/{kept.upper()}?lang=en": f"/s/{kept}",
        f"/embed/{kept}": f"/s/{kept}",
        "/learn/masks/?lang=zh#question-1": "/learn/masks",
        f"/learn/masks?share={kept}#figure-2": f"/learn/masks?share={kept}#figure-2",
        f" {BY_HAND} ": BY_HAND,
        "/?view=lines#source=A+long+text": "/?view=lines#source=A+long+text",
    }
    one = await made(client, items=[{"link": form} for form in forms])
    items = (await client.get(f"{PATH}/{one['id']}")).json()["items"]
    assert [item["link"] for item in items] == list(forms.values())
    by_name = await made(client, items=[{"share": kept}, {"lesson": "masks", "figure": 2}])
    items = (await client.get(f"{PATH}/{by_name['id']}")).json()["items"]
    assert [item["link"] for item in items] == [f"/s/{kept}", "/learn/masks#figure-2"]


@pytest.mark.parametrize(
    "link",
    [
        *("nothing", "//headlight/s/23456789abcde", "javascript:alert(1)", "http://["),
        *("ftp://headlight/?source=a", "/admin?source=a", "/", "/zoo", "/lab", "/c/x"),
        *("/s/short", "/s/23456789abcde"),
        *("/learn/plan", "/learn/nowhere", "/learn/masks#figure-9"),
    ],
)
def test_a_link_that_leads_nowhere_is_refused(reader: httpx.Client, link: str) -> None:
    body = {**BODY, "items": [FIGURE, {"link": link}]}
    detail = hold(reader.post(PATH, json=body), 422, "not-a-link", "items[1].link")
    assert link not in detail["detail"] or len(link) < 8
    hold(reader.get("/api/links", params={"link": link}), 422, "not-a-link", "link")
    asked = reader.get("/api/links/picture", params={"link": link})
    hold(asked, 422, "not-a-link", "link")


async def test_what_a_link_shows(client: httpx.AsyncClient) -> None:
    kept = (await share(client, about={"title": "A title"}))["id"]
    told = {
        SENTENCE: ("workspace", "The cat sat.", "workspace", SENTENCE[2:]),
        BY_HAND: ("lab", "", "lab", BY_HAND[5:]),
        f"/s/{kept}": ("share", "A title", "workspace", ""),
        "/learn/masks": ("lesson", "Masks", "lesson", ""),
    }
    for link, (kind, title, page, query) in told.items():
        found = (await client.get("/api/links", params={"link": link})).json()
        shown = [found[name] for name in ("link", "kind", "title", "page", "query", "gone")]
        assert shown == [link, kind, title, page, query, False]
        drawn = await client.get("/api/links/picture", params={"link": link})
        assert drawn.headers["content-type"] == "image/png", drawn.text
        assert Image.open(io.BytesIO(drawn.content)).size == (960, 600)
    figure = {"link": "/learn/what-a-head-does#figure-1"}
    english = (await client.get("/api/links", params=figure)).json()
    chinese = (
        await client.get("/api/links", params=figure, headers={"Accept-Language": "zh"})
    ).json()
    assert english["kind"] == "figure"
    assert english["query"].startswith("source=")
    assert english["title"] != chinese["title"]


def test_a_picture_of_a_bad_link_is_refused(reader: httpx.Client) -> None:
    for link, kind in {
        "/?source=Hi&model=none": "unknown-model",
        "/?source=": "empty-text",
        "/lab?x=1_0*0": "not-a-link",
        "/lab?x=a": "not-a-link",
        "/lab?x=1&targets=1e999": "not-a-link",
        '/?source=Hi&interventions=[{"at":1}]': "not-a-link",
    }.items():
        drawn = reader.get("/api/links/picture", params={"link": link})
        assert drawn.json()["type"] == f"urn:headlight:{kind}", drawn.text
    # As on the page, a number that cannot be read is left out.
    link = "/?source=Hi&layer=two&head=99999&decode={&Strange=1"
    assert reader.get("/api/links/picture", params={"link": link}).status_code == 200


@pytest.mark.parametrize("lesson", lessons(), ids=lambda lesson: lesson.slug)
def test_every_figure_of_a_lesson_is_shown_as_there(reader: httpx.Client, lesson: Lesson) -> None:
    for block in [it.block for it in lesson.document("en").parts if isinstance(it, Figure)]:
        link = f"/learn/{lesson.slug}#figure-{block.number}"
        found = reader.get("/api/links", params={"link": link}).json()
        assert (found["page"], found["query"]) in [
            (it.page, it.query) for it in (block.link, block.pictured)
        ]
        assert found["options"] == {k: v for k, v in block.fields.items() if k != "instead"}


ZOO = "task=reverse&models=reverse,reverse-learned,reverse-relative,reverse-rotary,reverse-none"
GLOSSED = "opening=1&source=I+see+a+cat.&word=0"
STATES = {  # of a figure, and what its page is told
    ("what-a-head-does", 1): ("source=A+dog.&view=lines&block=cross", None),
    ("what-a-head-does", 2): (
        GLOSSED,
        "source=I+see+a+cat.&view=attention&block=cross&layer=2&head=0&opening=1&word=0",
    ),
    ("query-key-value", 1): (BY_HAND.partition("?")[2], None),
    ("far-words", 2): ("show=layer-costs&f_n=1%2C000", None),
    ("order", 6): (f"{ZOO}&length=4&seed=2", None),
}
UNFIT = [
    (("far-words", 2), "show=why&f_dk=3"),  # another formula
    (("far-words", 2), "show=layer-costs&f_n=many"),
    (("far-words", 2), "show=layer-costs&n=3"),
    (("order", 6), "task=sort&models=sort&length=4&seed=1"),  # other models
    (("order", 6), f"{ZOO}&length=1000&seed=1"),  # not measured
    (("order", 6), f"{ZOO}&length=4&seed=-1"),
    (("what-a-head-does", 2), "opening=1&source=+"),
    (("what-a-head-does", 2), "opening=1&source=Hi&word=first"),
    (("what-a-head-does", 1), "show=why"),  # of a figure of another kind
    (("what-a-head-does", 1), "source=+&view=lines"),
    (("what-a-head-does", 1), "source=Hi&model=none"),
    (("query-key-value", 1), "x=1_0&w_q=1"),  # matrices that do not fit together
    (("training", 1), "run=../models"),
    (("training", 1), "run=2222222222222"),  # deleted
    (("training", 1), "task=sort"),
]


def in_state(figure: tuple[str, int], state: str) -> str:
    lesson, number = figure
    return f"/learn/{lesson}?{urlencode({'shows': state})}#figure-{number}"


@pytest.mark.parametrize("figure", STATES)
async def test_a_figure_is_shown_in_the_state_of_its_link(
    client: httpx.AsyncClient, figure: tuple[str, int]
) -> None:
    state, query = STATES[figure]
    link = in_state(figure, state)
    one = await made(client, items=[{"link": f"{link.replace('?', '?lang=zh&')}"}])
    assert (await client.get(f"{PATH}/{one['id']}")).json()["items"][0]["link"] == link
    found = (await client.get("/api/links", params={"link": link})).json()
    own = (await client.get("/api/links", params={"link": in_state(figure, "")})).json()
    assert found["fits"]
    assert parse_qs(found["query"]) == parse_qs(query or state)
    for name in ("kind", "page", "title", "says", "options"):
        assert found[name] == own[name]
    page = (await client.get(f"/c/{one['id']}")).text
    assert f'data-link="{found["query"]}"'.replace("&", "&amp;") in page
    assert 'class="remark"' not in page


@pytest.mark.parametrize(("figure", "state"), UNFIT)
def test_a_state_that_does_not_fit_is_refused_and_later_left_out(
    reader: httpx.Client, figure: tuple[str, int], state: str
) -> None:
    link = in_state(figure, state)
    body = {**BODY, "items": [FIGURE, {"link": link}]}
    told = hold(reader.post(PATH, json=body), 422, "not-a-state", "items[1].link")
    assert "shows" in told["detail"]
    found = reader.get("/api/links", params={"link": link}).json()
    own = reader.get("/api/links", params={"link": in_state(figure, "")}).json()
    assert found == own | {"link": link, "fits": False}


async def test_pictures_and_handouts_have_the_state(client: httpx.AsyncClient) -> None:
    figures = list(STATES)[:3]  # of a model, and by hand
    links = [in_state(figure, STATES[figure][0]) for figure in figures]
    for link, figure in zip(links, figures, strict=True):
        drawn = [
            await client.get("/api/links/picture", params={"link": one})
            for one in (link, in_state(figure, ""))
        ]
        assert all(one.headers["content-type"] == "image/png" for one in drawn), link
        assert drawn[0].content != drawn[1].content
    same = await client.get("/api/links/picture", params={"link": "/?source=A+dog.&view=lines"})
    assert (
        await client.get("/api/links/picture", params={"link": links[0]})
    ).content == same.content
    tables = [in_state(figure, STATES[figure][0]) for figure in list(STATES)[3:]]
    for link in tables:
        reply = await client.get("/api/links/picture", params={"link": link})
        hold(reply, 404, "not-found", None)
    one = await made(
        client, items=[{"link": link} for link in (*links, *tables, "/learn/order#figure-6")]
    )
    file = (await client.get(f"/c/{one['id']}/handout.html?lang=en")).content.decode()
    assert len(re.findall(r'id="item-\d+-data"', file)) == len(links)
    assert file.count('<div class="still"') == 3
    assert file.count("as it was linked") == 2


async def test_a_run_is_shown_at_the_step_of_its_link(serving: Serving) -> None:
    async with serving(**EAGER) as client:
        await _shown_at_its_step(client)


async def _shown_at_its_step(client: httpx.AsyncClient) -> None:
    run = await start(client, {**SMALL, "task": "reverse"})
    await until(client, run, lambda now: now["state"] == "finished")
    first, last = (
        in_state(
            ("training", 1),
            f"run={run['id']}&step={step}&view=attention&block=cross&layer=0&head=1",
        )
        for step in (0, 10)
    )
    drawn = [
        (await client.get("/api/links/picture", params={"link": link})).content
        for link in (first, last)
    ]
    assert drawn[0] != drawn[1]
    one = await made(client, items=[{"link": first}])
    file = (await client.get(f"/c/{one['id']}/handout.html")).content.decode()
    assert 'data-page="workspace" data-item="1"' in file
    found = (await client.get("/api/links", params={"link": first})).json()
    assert parse_qs(found["query"])["task"] == ["reverse"]
    forget(client, run["id"])
    found = (await client.get("/api/links", params={"link": first})).json()
    assert (found["fits"], "run" in parse_qs(found["query"])) == (False, False)
    # A file also says that it has no training run.
    for path, remarks in (("", 1), ("/handout.html", 2)):
        file = (await client.get(f"/c/{one['id']}{path}")).content.decode()
        assert len(re.findall('<p class="remark">', file)) == remarks
    assert (await client.get("/api/links/picture", params={"link": first})).status_code == 200


async def test_a_figure_whose_table_stands_in_for_it_has_no_picture(
    client: httpx.AsyncClient,
) -> None:
    """One that a page offers is also there: the lesson's own figure is its table."""
    for figure in ("order#figure-3", "order#figure-4", "masks#figure-2", "masks#figure-3"):
        link = f"/learn/{figure}"
        described = (await client.get("/api/links", params={"link": link})).json()
        drawn = await client.get("/api/links/picture", params={"link": link})
        assert described["picture"] == (drawn.status_code == 200), figure
