"""Questions of an assignment that are answered with a work, which the server has checked."""

from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest

from tests.assignments.assigning import PATH, WORDS, Assignment, made
from tests.assignments.test_assignments import ANN, BEN
from tests.serving.problem import hold

BASE = {"source": "The cat sleeps.", "block": "encoder", "layer": "1", "head": "2"}
GOAL = {"kind": "weight", "key": "cat", "least": 0.01}
ASK = {"kind": "does", "link": urlencode(BASE), "goal": GOAL}
QUESTIONS = [WORDS, {"entry": "work", "ask": ASK}]


@pytest.fixture
async def assignment(client: httpx.AsyncClient) -> Assignment:
    return await made(client, questions=QUESTIONS)


async def checked(assignment: Assignment, n: int = 1, **state: Any) -> httpx.Response:
    body = {"question": n, "link": f"/?{urlencode(state)}"}
    return await assignment.anyone.post("/checks", body)


async def test_a_work_is_checked_and_its_verdict_is_in_the_sums_and_the_files(
    assignment: Assignment,
) -> None:
    read = await assignment.anyone.read()
    assert read["questions"][1]["ask"]["goal"]["key"] == "cat"
    # The head is the question's, whatever the link says.
    reply = (await checked(assignment, source="The dog sees the cat.", layer=0)).json()
    assert reply["verdict"]["does"] is True
    state = {name: text for name, [text] in parse_qs(urlsplit(reply["link"]).query).items()}
    assert state == {**BASE, "source": "The dog sees the cat."}
    failed = (await checked(assignment, source="A bird sings.")).json()
    assert failed["verdict"] == {"does": False, "missing": "cat", "rewritten": False}
    for member, work in ((ANN, reply), (BEN, failed)):
        for _ in range(2):
            assert await assignment.sent(member, None, [work["link"], work["seal"]]) == 204
    results = (await assignment.read("/answers"))["results"][1]
    assert (results["count"], results["right"]) == (2, 1)
    rows = [(row["answer"], row["right"]) for row in await assignment.rows()]
    assert rows == [("The dog sees the cat.", "yes"), ("A bird sings.", "no")]
    record = await assignment.read("/answers.json")
    assert [student["right"] for student in record["students"]] == [[None, True], [None, False]]
    assert record["students"][0]["answers"] == [None, [reply["link"]]]  # without the seal


async def test_only_the_servers_own_verdict_is_accepted(assignment: Assignment) -> None:
    other = await made(assignment.client, questions=QUESTIONS)
    failed = (await checked(assignment, source="A bird sings.")).json()
    does = (await checked(assignment, source="My cat sings.")).json()
    elsewhere = (await checked(other, source="My cat sings.")).json()
    for wrong in (
        [failed["link"], does["seal"]],
        [elsewhere["link"], elsewhere["seal"]],
        [does["link"], ""],
        [does["link"], "é"],
        [does["link"], does["seal"][:-1]],
    ):
        hold(await assignment.submit(ANN, None, wrong), 422, "does-not-fit", "answers[1]")
    for wrong in ([does["link"]], [], [does["link"], does["seal"], ""]):
        hold(await assignment.submit(ANN, None, wrong), 422, "wrong-type", "answers[1]")
    assert (await assignment.read("/answers"))["members"] == 0


async def test_what_has_no_goal_or_cannot_be_run_is_refused(assignment: Assignment) -> None:
    for n in (0, 2):
        hold(await checked(assignment, n, source="Hi"), 409, "not-asking", "question")
    states: list[dict[str, Any]] = [{"source": " "}, {"source": "x" * 2_500}, {"layer": "1"}]
    for state in states:
        assert (await checked(assignment, **state)).status_code == 422
    client = assignment.client
    lost = await client.post(f"{PATH}/nowhere/checks", json={"question": 1, "link": "/?source=Hi"})
    assert lost.status_code == 404
    nowhere = {**ASK, "link": urlencode({**BASE, "layer": "9"})}
    for ask in (nowhere, {**ASK, "goal": None}):
        body = {"title": "Week 3", "questions": [{"entry": "work", "ask": ask}]}
        assert (await client.post(PATH, json=body)).status_code == 422
