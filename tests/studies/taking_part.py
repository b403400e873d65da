"""Studies for tests, and participants who answer their tests."""

from collections.abc import Sequence
from typing import Any

import httpx

from app.lessons.inventory import inventory

PATH = "/api/studies"
PAGES = [{"link": "/learn/masks"}, {"link": "/?source=Hi&view=lines", "title": "A sentence"}]
BODY: dict[str, Any] = {
    "title": "Week 3 <b>",
    "note": "Two tests.",
    "arms": [
        {"name": "Lessons", "pages": PAGES},
        {"name": "Control"},
    ],
    "later_days": 14,
}
OPTIONS = {  # by the text of a question and of an option in English: the kind
    (question.asks.en, option.en): option.kind
    for item in inventory().items
    for question in (item.A, item.B)
    for option in question.options
}


async def created(client: httpx.AsyncClient, **more: object) -> dict[str, Any]:
    response = await client.post(PATH, json={**BODY, **more})
    assert response.status_code == 201, response.text
    study: dict[str, Any] = response.json()
    return study


def owner(study: dict[str, Any]) -> dict[str, str]:
    return {"Authorization": f"Bearer {study['key']}"}


async def begun(client: httpx.AsyncClient, study: dict[str, Any], member: str) -> dict[str, Any]:
    path = f"{PATH}/{study['id']}/participants?lang=en"
    response = await client.post(path, json={"member": member})
    assert response.status_code == 200, response.text
    standing: dict[str, Any] = response.json()
    return standing


def places(standing: dict[str, Any], kinds: Sequence[str | None]) -> list[int | None]:
    """Return the places of the options of some kinds, one for each question; None for None."""
    answers: list[int | None] = []
    for question, kind in zip(standing["questions"], kinds, strict=True):
        of_options = [OPTIONS[question["asks"], option] for option in question["options"]]
        answers.append(None if kind is None else of_options.index(kind))
    return answers


def right(count: int) -> list[str | None]:
    """Return kinds with the first `count` right and no other answer."""
    number = len(inventory().items)
    return [*["right"] * count, *[None] * (number - count)]


async def answered(
    client: httpx.AsyncClient,
    study: dict[str, Any],
    member: str,
    standing: dict[str, Any],
    kinds: Sequence[str | None],
) -> dict[str, Any]:
    body = {"member": member, "stage": standing["stage"], "answers": places(standing, kinds)}
    response = await client.post(f"{PATH}/{study['id']}/answers?lang=en", json=body)
    assert response.status_code == 200, response.text
    after: dict[str, Any] = response.json()
    return after


async def take_both_tests(
    client: httpx.AsyncClient, study: dict[str, Any], member: str, before: int, after: int
) -> None:
    """Take part, with so many right answers in the first two tests."""
    standing = await begun(client, study, member)
    standing = await answered(client, study, member, standing, right(before))
    await answered(client, study, member, standing, right(after))


async def results(client: httpx.AsyncClient, study: dict[str, Any]) -> dict[str, Any]:
    path = f"{PATH}/{study['id']}/results?lang=en"
    response = await client.get(path, headers=owner(study))
    assert response.status_code == 200, response.text
    summed_up: dict[str, Any] = response.json()
    return summed_up
