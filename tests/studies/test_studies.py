"""Studies over HTTP."""

import csv
import io
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from app.http.replies import MARK
from app.lessons.inventory import inventory
from app.lessons.pages import find
from app.studies import service
from app.studies.schemas import MAX_ARMS
from tests.serving.fixtures import Serving
from tests.serving.problem import hold
from tests.studies.taking_part import (
    BODY,
    PAGES,
    PATH,
    answered,
    begun,
    created,
    owner,
    places,
    results,
    right,
    take_both_tests,
)

ANN = "ann-ann-ann"
N = len(inventory().items)


async def test_a_study_is_read_without_its_arms_and_its_key(client: httpx.AsyncClient) -> None:
    response = await client.post(PATH, json=BODY)
    study = response.json()
    assert response.status_code == 201
    assert response.headers["location"] == f"{PATH}/{study['id']}"
    assert response.headers["cache-control"] == "no-store"
    assert study["owner_url"] == f"{study['url']}#key={study['key']}"
    read = await client.get(f"{PATH}/{study['id'].upper()}")
    plan = read.json()
    assert (plan["title"], plan["later_days"], plan["items"]) == (BODY["title"], 14, 16)
    for secret in (study["key"], "Control", "/learn/masks"):
        assert secret not in read.text
    page = (await client.get(f"/study/{study['id']}")).text
    assert "Week 3 &lt;b&gt;" in page
    assert "Control" not in page


async def test_a_participant_is_led_from_test_to_test(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = await created(client, arms=BODY["arms"][:1])
    standing = await begun(client, study, ANN)
    assert (standing["stage"], standing["pages"], standing["opens"]) == ("before", [], None)
    assert len(standing["questions"]) == N
    assert "right" not in str([question.keys() for question in standing["questions"]])
    assert await begun(client, study, ANN) == standing
    reading = await answered(client, study, ANN, standing, right(5))
    assert reading["stage"] == "after"
    assert [page["link"] for page in reading["pages"]] == [page["link"] for page in PAGES]
    titles = [page["title"] for page in reading["pages"]]
    assert titles == [find("masks").document("en").title, "A sentence"]
    asked = [{question["asks"] for question in one["questions"]} for one in (standing, reading)]
    assert not asked[0] & asked[1], "the second test has the other form"
    waiting = await answered(client, study, ANN, reading, right(9))
    assert (waiting["stage"], waiting["questions"]) == ("later", [])
    days = datetime.fromisoformat(waiting["opens"]) - datetime.now(UTC)
    assert timedelta(days=13) < days <= timedelta(days=14)
    too_early = {"member": ANN, "stage": "later", "answers": [None] * N}
    path = f"{PATH}/{study['id']}/answers"
    hold(await client.post(path, json=too_early), 409, "study-order", None)

    class Later(datetime):
        @classmethod
        def now(cls, tz: object = None) -> "Later":
            return super().now(UTC) + timedelta(days=14, seconds=1)

    monkeypatch.setattr(service, "datetime", Later)
    last = await begun(client, study, ANN)
    assert (last["stage"], last["opens"]) == ("later", None)
    assert {question["asks"] for question in last["questions"]} == asked[0], "the first form"
    done = await answered(client, study, ANN, last, right(8))
    assert (done["stage"], done["questions"]) == ("done", [])
    (arm,) = (await results(client, study))["arms"]
    assert (arm["learned"]["n"], arm["kept"]["n"]) == (1, 1)
    assert arm["kept"]["after"]["mean"] == 8 / N
    assert [item["later"] for item in arm["items"]] == [1.0] * 8 + [0.0] * (N - 8)


async def test_questions_are_in_the_readers_language(client: httpx.AsyncClient) -> None:
    study = await created(client)
    path = f"{PATH}/{study['id']}/participants"
    chinese = (await client.post(f"{path}?lang=zh", json={"member": ANN})).json()
    english = await begun(client, study, ANN)
    first = [question["asks"] for question in (chinese["questions"][0], english["questions"][0])]
    item = inventory().items[0]
    assert first in ([item.A.asks.zh, item.A.asks.en], [item.B.asks.zh, item.B.asks.en])


async def test_answers_that_were_sent_stay(client: httpx.AsyncClient) -> None:
    study = await created(client)
    path = f"{PATH}/{study['id']}/answers"
    body = {"member": ANN, "stage": "before", "answers": [0] * N}
    hold(await client.post(path, json=body), 409, "study-order", None)
    standing = await begun(client, study, ANN)
    for answers, kind, field in (
        ([0] * (N - 1), "does-not-fit", "answers"),
        ([4] * N, "out-of-range", "answers[0]"),
    ):
        hold(await client.post(path, json={**body, "answers": answers}), 422, kind, field)
    hold(await client.post(path, json={**body, "stage": "after"}), 409, "study-order", None)
    await answered(client, study, ANN, standing, right(3))
    same = {**body, "answers": places(standing, right(3))}
    assert (await client.post(path, json=same)).json()["stage"] == "after", "sent twice"
    other = {**body, "answers": places(standing, right(4))}
    hold(await client.post(path, json=other), 409, "study-order", None)


async def test_arms_and_forms_are_balanced(client: httpx.AsyncClient) -> None:
    study = await created(client)
    forms = {item.A.asks.en: "A" for item in inventory().items}
    cells = []
    for n in range(12):
        standing = await begun(client, study, f"member-{n}")
        form = forms.get(standing["questions"][0]["asks"], "B")
        after = await answered(client, study, f"member-{n}", standing, right(0))
        cells.append((bool(after["pages"]), form))
    for block in (cells[:4], cells[4:8], cells[8:]):
        assert len(set(block)) == 4, "each block has every arm with both forms"
    arms = (await results(client, study))["arms"]
    assert [arm["assigned"] for arm in arms] == [6, 6]
    assert len({tuple(cells[n : n + 4]) for n in (0, 4, 8)}) > 1 or len(set(cells)) == 4


async def test_the_results_are_those_that_one_computes_by_hand(client: httpx.AsyncClient) -> None:
    study = await created(client, arms=BODY["arms"][:1])
    for n, (before, after) in enumerate(((4, 8), (8, 12), (6, 16))):
        await take_both_tests(client, study, f"member-{n}", before, after)
    await begun(client, study, "member-of-none")
    summary = await results(client, study)
    (arm,) = summary["arms"]
    assert (summary["participants"], arm["assigned"], arm["before"]) == (4, 4, 3)
    learned = arm["learned"]
    assert learned["n"] == 3
    assert learned["before"] == {"mean": 6 / 16, "sd": pytest.approx(2 / 16)}
    assert learned["after"] == {"mean": 12 / 16, "sd": pytest.approx(4 / 16)}
    assert learned["gain"] == pytest.approx(6 / 16)
    assert learned["normalized"] == pytest.approx((12 - 6) / (16 - 6))
    assert learned["effect"]["d"] == pytest.approx(6 / ((4 + 16) / 2) ** 0.5)
    rights = [(item["before"], item["after"]) for item in arm["items"]]
    assert rights[5] == (pytest.approx(2 / 3), 1.0)
    assert rights[15] == (0.0, pytest.approx(1 / 3))
    assert summary["comparisons"] == []


async def test_misunderstandings_are_counted_where_they_could_be_chosen(
    client: httpx.AsyncClient,
) -> None:
    study = await created(client, arms=BODY["arms"][:1])
    offered = [
        "importance" in {option.kind for option in item.A.options} for item in inventory().items
    ]
    wrong = ["importance" if possible else None for possible in offered]
    standing = await begun(client, study, ANN)
    standing = await answered(client, study, ANN, standing, wrong)
    first = offered.index(True)
    once = [kind if n == first else "right" for n, kind in enumerate(wrong)]
    await answered(client, study, ANN, standing, once)
    (arm,) = (await results(client, study))["arms"]
    chosen = {one["kind"]: (one["before"], one["after"]) for one in arm["misunderstandings"]}
    assert chosen.pop("importance") == (1.0, pytest.approx(1 / sum(offered)))
    assert set(chosen.values()) == {(0.0, 0.0)}


async def test_a_comparison_is_of_the_gains(client: httpx.AsyncClient) -> None:
    study = await created(client)
    gains: dict[bool, list[int]] = {True: [], False: []}
    for n in range(8):
        standing = await begun(client, study, f"member-{n}")
        standing = await answered(client, study, f"member-{n}", standing, right(2))
        lessons = bool(standing["pages"])
        gain = len(gains[lessons]) + (6 if lessons else 1)
        gains[lessons].append(gain)
        await answered(client, study, f"member-{n}", standing, right(2 + gain))
    (control,) = (await results(client, study))["comparisons"]
    assert gains == {True: [6, 7, 8, 9], False: [1, 2, 3, 4]}
    assert control["name"] == "Control"
    assert control["difference"] == pytest.approx(-5 / 16)
    assert control["effect"]["d"] == pytest.approx(-5 / (5 / 3) ** 0.5)


async def test_the_table_has_a_row_for_each_answer_and_no_token(client: httpx.AsyncClient) -> None:
    study = await created(client)
    await take_both_tests(client, study, ANN, 3, 16)
    path = f"{PATH}/{study['id']}/answers.csv"
    reply = await client.get(path, headers=owner(study))
    assert reply.headers["content-type"].startswith("text/csv")
    assert reply.headers["cache-control"] == "no-store"
    rows = list(csv.DictReader(io.StringIO(reply.text.removeprefix(MARK))))
    assert len(rows) == 2 * N
    assert sum(row["right"] == "yes" for row in rows) == 3 + 16
    assert {row["test"] for row in rows} == {"before", "after"}
    assert {row["form"] for row in rows} == {"A", "B"}
    assert ANN not in reply.text


async def test_what_is_kept_of_an_address_is_the_same_for_one_in_256(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    study = await created(client)
    await begun(client, study, "a-token-of-a-page")
    held = b"".join(file.read_bytes() for file in tmp_path.glob("headlight.db*"))
    for secret in ("a-token-of-a-page", study["key"]):
        assert secret.encode() not in held


async def test_only_the_key_opens_the_results_and_deletes(client: httpx.AsyncClient) -> None:
    study, other = await created(client), await created(client)
    await begun(client, study, ANN)
    path = f"{PATH}/{study['id']}"
    for headers in ({}, owner(other), {"Authorization": f"Bearer {ANN}"}):
        for what in ("/results", "/answers.csv"):
            hold(await client.get(path + what, headers=headers), 403, "wrong-study-key", None)
        hold(await client.delete(path, headers=headers), 403, "wrong-study-key", None)
    assert (await client.delete(path, headers=owner(study))).status_code == 204
    for gone in (path, f"/study/{study['id']}"):
        hold(await client.get(gone), 404, "unknown-study", "id")
    body = {"member": ANN}
    hold(await client.post(f"{path}/participants", json=body), 404, "unknown-study", "id")


async def test_a_study_is_no_assignment(client: httpx.AsyncClient) -> None:
    study = await created(client)
    path = f"/api/assignments/{study['id']}"
    hold(await client.get(path), 404, "unknown-assignment", "id")
    hold(await client.delete(path, headers=owner(study)), 404, "unknown-assignment", "id")
    assert (await client.get(f"{PATH}/{study['id']}")).status_code == 200


@pytest.mark.parametrize(
    ("more", "kind", "field"),
    [
        ({"title": ""}, "too-short", "title"),
        ({"arms": []}, "too-short", "arms"),
        ({"arms": [{"name": str(n)} for n in range(MAX_ARMS + 1)]}, "too-long", "arms"),
        (
            {"arms": [{"name": "x", "pages": [{"link": "https://example.com/"}]}]},
            "unknown-value",
            "arms[0].pages[0].link",
        ),
        (
            {"arms": [{"name": "x", "pages": [{"link": "//example.com"}]}]},
            "unknown-value",
            "arms[0].pages[0].link",
        ),
        ({"later_days": 0}, "out-of-range", "later_days"),
        ({"later_days": 91}, "out-of-range", "later_days"),
    ],
)
async def test_a_plan_that_does_not_fit_is_refused(
    client: httpx.AsyncClient, more: dict[str, object], kind: str, field: str
) -> None:
    hold(await client.post(PATH, json={**BODY, **more}), 422, kind, field)


async def test_the_third_test_is_before_the_answers_expire(serving: Serving) -> None:
    async with serving(keep_assignments_days=10) as client:
        hold(await client.post(PATH, json=BODY), 422, "out-of-range", "later_days")
        await created(client, later_days=9)


async def test_a_full_study_takes_no_other_participant(serving: Serving) -> None:
    async with serving(max_assignment_members=2) as client:
        study = await created(client)
        await begun(client, study, ANN)
        body = {"member": "ben-ben-ben"}
        path = f"{PATH}/{study['id']}/participants"
        hold(await client.post(path, json=body), 409, "study-full", None)
        await begun(client, study, ANN)
