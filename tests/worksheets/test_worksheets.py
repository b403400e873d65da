"""Worksheets of sentences, the lab, lessons and collections: their blanks and their keys."""

import re
from html import unescape
from typing import Any

import httpx
import numpy as np
import pytest

from app.lessons.pages import find, taken
from app.traces.service import run
from tests.collections.collecting import made
from tests.serving.storage import share

SENTENCE = "/?source=The+cat+sat.&view=attention&block=cross&layer=1&head=2&query=1"
LAB = "/lab?tokens=a%0Ab&x=1_0*0_1&w_q=1_0*0_1&w_k=1_0*0_2&w_v=1_2*3_4&scoring=dot"
TABLE = re.compile(r"<table.*?</table>", re.DOTALL)
CELL = re.compile(r"<td(| class=\"blank\")>(.*?)</td>")


async def sheet(client: httpx.AsyncClient, link: str, **query: str) -> tuple[str, str]:
    """Return the HTML of the tasks and of the key."""
    page = await client.get("/worksheet", params={"link": link, "lang": "en", **query})
    assert page.status_code == 200, page.text[:400]
    tasks, _, key = page.text.partition('id="key"')
    return tasks, key


def cells(html: str) -> list[tuple[bool, str]]:
    return [(bool(blank), text) for blank, text in CELL.findall(html.partition("<tbody>")[2])]


async def test_a_matrix_and_a_softmax_with_blanks_that_the_key_fills(
    client: httpx.AsyncClient,
) -> None:
    tasks, key = await sheet(client, SENTENCE)
    asked, answered = (TABLE.findall(part) for part in (tasks, key))
    assert len(asked) == len(answered) == 2
    for question, answer in zip(asked, answered, strict=True):
        for (blank, text), (filled, right) in zip(cells(question), cells(answer), strict=True):
            assert blank == filled
            assert right or not blank
            assert text == ("" if blank else right)
    body = {"source": "The cat sat.", "select": ["decoder.1.cross.weights"]}
    trace = (await client.post("/api/trace", json=body)).json()
    weights = np.array(trace["tensors"]["decoder.1.cross.weights"]["data"])[2]
    printed = [float(text) for _, text in cells(answered[0]) if text]
    np.testing.assert_allclose(np.reshape(printed, weights.shape), weights, atol=0.01)
    np.testing.assert_allclose(np.reshape(printed, weights.shape).sum(-1), 1)
    # The row of the softmax is blank in the matrix, too.
    row = cells(asked[0])[weights.shape[1] : 2 * weights.shape[1]]
    assert all(blank for blank, _ in row)
    best = max(float(text) for _, text in cells(answered[1])[2::3][:-1])
    assert best == pytest.approx(weights[1].max(), abs=0.02)


async def test_the_class_has_its_own_sentence_and_other_blanks(client: httpx.AsyncClient) -> None:
    tasks, _ = await sheet(client, SENTENCE, sentence="Dogs <b>bark</b>.")
    assert "Dogs &lt;b&gt;bark&lt;/b&gt;." in tasks
    assert "The cat sat." not in tasks.partition('id="sheet"')[2]
    others = {(await sheet(client, SENTENCE, seed=str(seed)))[0] for seed in range(4)}
    assert len(others) > 1


async def test_the_lab_asks_for_one_row(client: httpx.AsyncClient) -> None:
    tasks, key = await sheet(client, LAB)
    blanks = [cells(table)[2:] for table in TABLE.findall(key)]
    q, scores, weights, mix = blanks
    assert [text for _, text in q] == ["0", "1"]
    assert [text for _, text in scores] == ["0", "2"]
    assert [text for _, text in weights] == ["0.12", "0.88"]
    assert [text for _, text in mix] == ["2.76", "3.76"]
    for table in TABLE.findall(tasks):
        assert not any(text for blank, text in cells(table) if blank)


async def test_a_lesson_has_its_questions_and_their_answers_only_in_the_key(
    client: httpx.AsyncClient,
) -> None:
    tasks, key = await sheet(client, "/learn/what-a-head-does")
    questions = taken(find("what-a-head-does").document("en"))
    assert tasks.count('class="asks"') == len(questions)
    for question in questions:
        assert question.question in tasks
        assert question.why in key
        assert question.why not in tasks
        if question.block.kind == "looks":
            assert f"<bdi>{question.block.expects}</bdi>" in key
    chinese = await client.get("/worksheet?link=/learn/what-a-head-does&lang=zh")
    assert "答案" in chinese.text


async def test_a_collection_has_the_questions_of_its_items_and_nothing_private(
    client: httpx.AsyncClient,
) -> None:
    about = {"question": "Why <here>?", "answer": "Because."}
    kept = (await share(client, about=about))["id"]
    items = [
        {"lesson": "what-a-head-does", "private": "Do not tell."},
        {"share": kept},
        {"link": SENTENCE, "title": "Ours"},
        {"link": LAB},
    ]
    one = await made(client, items=items)
    tasks, key = await sheet(client, f"http://headlight/c/{one['id']}?lang=zh")
    assert "Do not tell." not in tasks + key
    assert "Why &lt;here&gt;?" in tasks
    assert "Because." in key
    assert "<h3>Ours</h3>" in tasks
    assert tasks.count("data-task") == key.count("data-answers") > 8
    assert "data-off" in tasks, "more than fits on two pages"
    page = (await client.get(f"/c/{one['id']}?lang=en")).text
    (address,) = re.findall(r'href="(/worksheet\?[^"]*)"', page)
    assert (await client.get(unescape(address))).status_code == 200


@pytest.mark.parametrize(
    ("link", "status"),
    [
        ("/nothing", 422),
        ("/lab", 422),
        ("/learn/training#figure-99", 422),
        ("/c/2222222222222", 404),
    ],
)
async def test_a_link_to_nothing_stays_in_the_form_to_be_corrected(
    client: httpx.AsyncClient, link: str, status: int
) -> None:
    page = await client.get("/worksheet", params={"link": link, "lang": "en"})
    assert page.status_code == status
    assert f'value="{link}"' in page.text
    assert 'role="alert">Nothing for paper is at this link.' in page.text


async def test_without_a_link_the_page_is_a_form(client: httpx.AsyncClient) -> None:
    page = await client.get("/worksheet")
    assert 'name="link"' in page.text
    assert 'role="alert"' not in page.text


async def test_the_lab_asks_for_a_row_of_the_chosen_head(client: httpx.AsyncClient) -> None:
    link = f"{LAB.replace('w_q=1_0*0_1', 'w_q=1_0*0_3')}&heads=2"
    first, second = [await sheet(client, link, head=head) for head in ("0", "1")]
    assert "Head 1" in first[0]
    assert "Head 2" in second[0]
    assert '<option value="1" selected>2</option>' in second[0]
    queries = [[text for _, text in cells(TABLE.findall(key)[0])] for _, key in (first, second)]
    assert queries == [["1", "0"], ["0", "3"]]  # q of the two tokens, one feature for each head
    assert 'name="head"' not in (await sheet(client, LAB))[0]


async def test_scores_are_recorded_only_where_the_head_is(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    selected: list[str] = []

    async def spy(services: Any, body: Any, select: Any, encoding: Any) -> Any:
        selected.extend(select)
        return await run(services, body, select, encoding)

    monkeypatch.setattr("app.worksheets.routes.run", spy)
    await sheet(client, SENTENCE)
    assert selected == ["*.weights", "*.mask", "decoder.1.cross.scores"]
