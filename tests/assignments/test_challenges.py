"""Questions of an assignment that are answered with a work, which the server has checked."""

from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx

from tests.assignments.assigning import PATH, WORDS, owner
from tests.assignments.test_assignments import ANN, BEN, table
from tests.serving.problem import hold

BASE = {"source": "The cat sleeps.", "block": "encoder", "layer": "1", "head": "2"}
GOAL = {"kind": "weight", "key": "cat", "least": 0.01}
ASK = {"kind": "does", "link": urlencode(BASE), "goal": GOAL}
CHALLENGE = {"entry": "work", "ask": ASK}


async def assigned(client: httpx.AsyncClient, **more: Any) -> dict[str, Any]:
    body = {"title": "Week 3", "questions": [WORDS, CHALLENGE], **more}
    response = await client.post(PATH, json=body)
    assert response.status_code == 201, response.text
    made: dict[str, Any] = response.json()
    return made


async def checked(
    client: httpx.AsyncClient, assignment: dict[str, Any], n: int = 1, **state: Any
) -> httpx.Response:
    body = {"question": n, "link": f"/?{urlencode(state)}"}
    return await client.post(f"{PATH}/{assignment['id']}/checks", json=body)


async def send(
    client: httpx.AsyncClient, assignment: dict[str, Any], member: str, answer: Any
) -> Any:
    body = {"member": member, "answers": [None, answer]}
    return await client.post(f"{PATH}/{assignment['id']}/answers", json=body)


async def test_a_work_is_checked_and_its_verdict_is_in_the_sums_and_the_files(
    client: httpx.AsyncClient,
) -> None:
    assignment = await assigned(client)
    read = (await client.get(f"{PATH}/{assignment['id']}")).json()
    assert read["questions"][1]["ask"]["goal"]["key"] == "cat"
    # The head is the question's, whatever the link says.
    reply = (await checked(client, assignment, source="The dog sees the cat.", layer=0)).json()
    assert reply["verdict"]["does"] is True
    state = {name: text for name, [text] in parse_qs(urlsplit(reply["link"]).query).items()}
    assert state == {**BASE, "source": "The dog sees the cat."}
    failed = (await checked(client, assignment, source="A bird sings.")).json()
    assert failed["verdict"] == {"does": False, "missing": "cat", "rewritten": False}
    for member, work in ((ANN, reply), (BEN, failed)):
        sent = await send(client, assignment, member, [work["link"], work["seal"]])
        assert sent.status_code == 204, sent.text
        again = await send(client, assignment, member, [work["link"], work["seal"]])
        assert again.status_code == 204
    path = f"{PATH}/{assignment['id']}/answers"
    results = (await client.get(path, headers=owner(assignment))).json()["results"][1]
    assert (results["count"], results["right"]) == (2, 1)
    rows = await table(client, assignment, assignment["key"])
    assert [(row["answer"], row["right"]) for row in rows] == [
        ("The dog sees the cat.", "yes"),
        ("A bird sings.", "no"),
    ]
    record = (await client.get(f"{path}.json", headers=owner(assignment))).json()
    assert [student["right"] for student in record["students"]] == [[None, True], [None, False]]
    assert record["students"][0]["answers"] == [None, [reply["link"]]]  # without the seal


async def test_only_the_servers_own_verdict_is_accepted(client: httpx.AsyncClient) -> None:
    assignment, other = await assigned(client), await assigned(client)
    failed = (await checked(client, assignment, source="A bird sings.")).json()
    does = (await checked(client, assignment, source="My cat sings.")).json()
    elsewhere = (await checked(client, other, source="My cat sings.")).json()
    for wrong in (
        [failed["link"], does["seal"]],
        [elsewhere["link"], elsewhere["seal"]],
        [does["link"], ""],
        [does["link"], "é"],
        [does["link"], does["seal"][:-1]],
    ):
        hold(await send(client, assignment, ANN, wrong), 422, "does-not-fit", "answers[1]")
    for wrong in ([does["link"]], [], [does["link"], does["seal"], ""]):
        hold(await send(client, assignment, ANN, wrong), 422, "wrong-type", "answers[1]")
    assert (
        await client.get(f"{PATH}/{assignment['id']}/answers", headers=owner(assignment))
    ).json()["members"] == 0


async def test_what_has_no_goal_or_cannot_be_run_is_refused(client: httpx.AsyncClient) -> None:
    assignment = await assigned(client)
    for n in (0, 2):
        hold(await checked(client, assignment, n, source="Hi"), 409, "not-asking", "question")
    states: list[dict[str, Any]] = [{"source": " "}, {"source": "x" * 2_500}, {"layer": "1"}]
    for state in states:
        assert (await checked(client, assignment, **state)).status_code == 422
    lost = await client.post(f"{PATH}/nowhere/checks", json={"question": 1, "link": "/?source=Hi"})
    assert lost.status_code == 404
    nowhere = {**ASK, "link": urlencode({**BASE, "layer": "9"})}
    for ask in (nowhere, {**ASK, "goal": None}):
        body = {"title": "Week 3", "questions": [{"entry": "work", "ask": ask}]}
        assert (await client.post(PATH, json=body)).status_code == 422
