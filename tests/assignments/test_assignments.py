"""Assignments over HTTP."""

import httpx
import pytest

from app.assignments.schemas import MAX_QUESTIONS
from app.assignments.service import _answer_words
from app.rooms.room_document import MAX_BYTES
from app.rooms.schemas import MAX_NICKNAME
from app.store.documents import KEY_LENGTH
from tests.assignments.assigning import BODY, LOOKS, PATH, Assignment, made
from tests.serving.fixtures import Serving
from tests.serving.problem import hold

NUMBER = {"kind": "number", "link": "task=sort", "words": "How many steps?"}
ANN, BEN, EVE = (f"{name}-{name}-{name}" for name in ("ann", "ben", "eve"))


async def test_an_assignment_is_created_and_read_without_its_answers(
    client: httpx.AsyncClient,
) -> None:
    response = await client.post(PATH, json=BODY)
    one = response.json()
    assert response.status_code == 201
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["location"] == f"{PATH}/{one['id']}"
    assert one["url"] == f"http://headlight/a/{one['id']}"
    assert one["owner_url"] == f"{one['url']}#key={one['key']}"
    assert len(one["key"]) == KEY_LENGTH
    read = await client.get(f"{PATH}/{one['id'].upper()}")
    told = read.json()
    assert (told["title"], told["note"]) == (BODY["title"], BODY["note"])
    assert (told["reveal"], told["nicknames"]) == ("end", True)
    asked = [(question["entry"], question["ask"]["kind"]) for question in told["questions"]]
    assert asked == [("choice", "looks"), ("shares", "row"), ("text", "sentence")]
    assert one["key"] not in read.text
    assert "truth" not in read.text


async def stated(assignment: Assignment) -> list[object]:
    """Return the right numbers that the questions state."""
    reply = await assignment.get()
    assert reply.status_code == 200, reply.text
    assert reply.headers["vary"] == "Authorization"
    assert (reply.headers.get("cache-control") == "no-store") == bool(assignment.key)
    asked = [question["ask"] for question in reply.json()["questions"]]
    assert all(("value" in ask) == (ask["link"] == NUMBER["link"]) for ask in asked)
    return [ask.get("value") for ask in asked]


@pytest.mark.parametrize("reveal", ["each", "end"])
async def test_a_stated_number_is_read_by_the_author_and_by_students_once_it_is_revealed(
    client: httpx.AsyncClient, reveal: str
) -> None:
    numbers = [
        {"entry": "numbers", "ask": {**NUMBER, "value": value}, "truth": {"numbers": [value]}}
        for value in (0.25, 3)
    ]
    one = await made(client, questions=numbers, reveal=reveal)
    hidden = [None, None]
    for other in (one.anyone, one.of(ANN), one.of(one.reply["key"][:-1])):
        assert await stated(other) == hidden
    assert await stated(one) == [0.25, 3]
    assert await one.sent(ANN, ["0.5"], None) == 204
    assert await stated(one.of(ANN)) == [0.25, None if reveal == "each" else 3]
    second = await made(client, questions=numbers, reveal=reveal)
    for other in (one.anyone, one.of(BEN), second.of(ANN), second.by(one.key)):
        assert await stated(other) == hidden
    assert [row["right"] for row in await one.rows()] == ["no"]


OPTIONS = [{"text": "at the", "note": "the nearest"}, {"text": "at cat"}]
OWN = {"kind": "choice", "link": "", "words": "Which?", "options": OPTIONS, "right": [1]}
PARTS = [{"text": text} for text in ("softmax", "scores", "sum")]
ORDER = {"kind": "order", "link": "", "words": "Order?", "options": PARTS, "right": [1, 0, 2]}


async def test_what_is_right_of_an_authors_question_is_hidden_until_it_is_revealed(
    client: httpx.AsyncClient,
) -> None:
    questions = [
        {"entry": "choice", "ask": OWN},
        {"entry": "order", "ask": ORDER},
        {"entry": "text", "ask": {"kind": "open", "link": "", "words": "Why?"}},
    ]
    one = await made(client, questions=questions, reveal="each")
    for reader in (one.anyone, one.of(ANN)):
        text = (await reader.get()).text
        assert "the nearest" not in text
        assert "right" not in text
    for wrong in ([["2"], None, None], [None, ["0", "1"], None], [["0", "1"], None, None]):
        assert await one.sent(ANN, *wrong) == 422, wrong
    assert await one.sent(ANN, ["0"], None, None) == 204
    asked = (await one.of(ANN).read())["questions"]
    assert (asked[0]["ask"]["right"], asked[0]["ask"]["options"][0]["note"]) == ([1], "the nearest")
    assert "right" not in asked[1]["ask"]
    assert await one.sent(ANN, ["0"], ["1", "0", "2"], ["So."]) == 204
    assert await one.sent(BEN, ["1"], ["0", "1", "2"], None) == 204
    summary = await one.read("/answers")
    assert [result["right"] for result in summary["results"]] == [1, 1, None]
    rows = await one.rows()
    assert [(row["answer"], row["right"], row["words"]) for row in rows] == [
        ("at the", "no", "Which?"),
        ("at cat", "yes", "Which?"),
        ("scores → softmax → sum", "yes", "Order?"),
        ("softmax → scores → sum", "no", "Order?"),
        ("So.", "", "Why?"),
    ]
    record = await one.read("/answers.json")
    assert record["results"] == summary["results"]
    right = [question["ask"].get("right") for question in record["questions"]]
    assert right == [[1], [1, 0, 2], None]
    of_students = [student["right"] for student in record["students"]]
    assert of_students == [[False, True, None], [True, False, None]]
    assert [student["answers"][2] for student in record["students"]] == [["So."], None]
    assert (await one.of(ANN).get("/answers.json")).status_code == 403
    bad = [{"entry": "choice", "ask": {**OWN, "right": [2]}}]
    refused = await client.post(PATH, json={**BODY, "questions": bad})
    assert (refused.status_code, refused.json()["field"]) == (422, "questions[0].ask.right")


async def test_answers_replace_those_of_the_same_student_and_are_summed_up(
    client: httpx.AsyncClient,
) -> None:
    one = await made(client)
    assert await one.sent(ANN, ["0"], None, None) == 204
    assert await one.sent(BEN, ["2"], ["3", "1"], ["=HYPERLINK(1)"]) == 204
    first = await one.read("/answers")
    assert first["members"] == 2
    assert [result["count"] for result in first["results"]] == [2, 1, 1]
    assert await one.sent(ANN, ["1"], ["1", "3"], None) == 204
    told = await one.read("/answers")
    assert told["members"] == 2
    looks, row, words = told["results"]
    assert (looks["chosen"], looks["right"]) == ({"1": 1, "2": 1}, 2)
    assert (row["count"], row["right"], row["mean"]) == (2, 1, [0.5, 0.5])
    assert row["distance"] == pytest.approx(0.25)
    assert (words["count"], words["right"]) == (1, None)


async def test_the_owner_downloads_all_answers_and_a_student_their_own(
    client: httpx.AsyncClient,
) -> None:
    one = await made(client)
    sent = await one.submit(ANN, ["0"], ["1", "3"], None, nickname=" Ann  Lee ")
    assert sent.status_code == 204
    assert await one.sent(BEN, ["1"], None, ["=HYPERLINK(1)"]) == 204
    rows = await one.rows()
    assert [(row["question"], row["nickname"], row["answer"], row["right"]) for row in rows] == [
        ("1", "Ann Lee", "0", "no"),
        ("1", "", "1", "yes"),
        ("2", "Ann Lee", "1 3", "yes"),
        ("3", "", "'=HYPERLINK(1)", ""),
    ]
    assert len({row["member"] for row in rows}) == 2
    assert not any(token in str(rows) for token in (ANN, BEN))
    own = await one.of(ANN).rows()
    assert [(row["question"], row["answer"]) for row in own] == [("1", "0"), ("2", "1 3")]
    assert "right" not in own[0]
    assert {row["member"] for row in own} == {rows[0]["member"]}


async def test_only_the_key_reads_and_deletes(client: httpx.AsyncClient) -> None:
    one, other = await made(client), await made(client)
    assert await one.sent(ANN, ["0"], None, None) == 204
    wrong = [one.anyone, *map(one.of, (other.reply["key"], one.reply["key"][:-1], EVE, ANN))]
    for stranger in wrong:
        hold(await stranger.get("/answers"), 403, "wrong-assignment-key")
        hold(await stranger.delete(), 403, "wrong-assignment-key")
        own = await stranger.get("/answers.csv")
        assert own.status_code == (200 if stranger == one.of(ANN) else 403)
    # The same token is another member elsewhere.
    hold(await other.of(ANN).get("/answers.csv"), 403, "wrong-assignment-key")
    assert (await one.delete()).status_code == 204
    for gone in (*[await one.get(path) for path in ("", "/answers", "/answers.csv")],
                 await one.delete()):  # fmt: skip
        hold(gone, 404, "unknown-assignment", "id")
    assert await one.sent(ANN, ["0"], None, None) == 404
    assert (await other.anyone.get()).status_code == 200


@pytest.mark.parametrize(
    ("body", "kind", "field"),
    [
        ({"title": ""}, "too-short", "title"),
        ({"questions": []}, "too-short", "questions"),
        ({"questions": [LOOKS] * (MAX_QUESTIONS + 1)}, "too-long", "questions"),
        ({"questions": [{**LOOKS, "entry": "essay"}]}, "unknown-value", "questions[0].entry"),
        ({"questions": [{**LOOKS, "answer": 1}]}, "unknown-field", "questions[0]"),
        ({"reveal": "never"}, "unknown-value", "reveal"),
        ({"note": "a\0"}, "not-text", "note"),
    ],
)
def test_bad_assignments_name_the_field(
    reader: httpx.Client, body: dict[str, object], kind: str, field: str
) -> None:
    hold(reader.post(PATH, json={**BODY, **body}), 422, kind, field)


@pytest.mark.parametrize(
    ("body", "kind", "field"),
    [
        ({"answers": [["1"]]}, "does-not-fit", "answers"),
        ({"answers": [["1", "2"], None, None]}, "wrong-type", "answers[0]"),
        ({"answers": [None, ["-1", "2"], None]}, "wrong-type", "answers[1]"),
        ({"answers": [None, None, [" "]]}, "wrong-type", "answers[2]"),
        ({"answers": [None, None, ["a" * 501]]}, "too-long", "answers[2][0]"),
        ({"member": "short"}, "unknown-value", "member"),
        ({"nickname": " "}, "too-short", "nickname"),
        ({"nickname": "a" * (MAX_NICKNAME + 1)}, "too-long", "nickname"),
        ({"nickname": "a\nb"}, "not-text", "nickname"),
        ({"nickname": "\u202edcba"}, "not-text", "nickname"),
    ],
)
async def test_bad_answers_name_the_field_and_are_not_stored(
    client: httpx.AsyncClient, body: dict[str, object], kind: str, field: str
) -> None:
    one = await made(client)
    whole = {"member": ANN, "answers": [None, None, None], **body}
    hold(await one.anyone.post("/answers", whole), 422, kind, field)
    assert (await one.read("/answers"))["members"] == 0


async def test_a_nickname_is_accepted_only_where_one_is_asked_for(
    client: httpx.AsyncClient,
) -> None:
    one = await made(client, nicknames=False)
    reply = await one.submit(ANN, ["1"], None, None, nickname="Ann")
    hold(reply, 422, "unknown-field", "nickname")


async def test_the_bytes_of_one_student_are_limited(client: httpx.AsyncClient) -> None:
    row = {"entry": "shares", "ask": {"kind": "row", "link": ""}}
    one = await made(client, questions=[row] * 4)
    long = ["0" * 49 + "1"] * 400
    hold(await one.submit(ANN, *[long] * 4), 422, "too-long", "answers")
    assert MAX_BYTES < 4 * 400 * 50
    assert await one.sent(ANN, long, long, None, None) == 204


async def test_limits_of_members_creations_and_bytes(serving: Serving) -> None:
    limits = {"max_assignment_members": 4, "max_shares_per_minute": 2}
    async with serving(**limits, max_shares_bytes_per_address=3_000) as client:
        one = await made(client)
        statuses = [await one.sent(member, ["0"], None, None) for member in (ANN, BEN, EVE, ANN)]
        assert statuses == [204, 204, 409, 204]
        big = ["a" * 480]
        assert await one.sent(ANN, ["0"], None, big) == 204
        await made(client, note="a" * 1_000)
        hold(await client.post(PATH, json=BODY), 429, "too-many-shares")
        assert await one.sent(BEN, ["0"], None, big) == 507  # the author's bytes
        assert await one.sent(ANN, ["0"], None, None) == 204
        assert await one.sent(BEN, ["0"], None, big) == 204


async def test_one_client_cannot_send_without_end(serving: Serving) -> None:
    async with serving(work_per_second=1, max_work=2_000) as client:
        one = await made(client)
        statuses = [await one.sent(ANN, ["0"], None, None) for _ in range(6)]
        assert statuses == [204] * 4 + [429] * 2


def test_a_cell_is_in_the_table_in_the_words_of_its_row_and_column() -> None:
    axes = {"rows": ["The", "<bos>→猫"], "columns": ["The", "cat"]}
    question = {"entry": "cell", "ask": {"kind": "point", "link": "", "axes": axes}}
    assert _answer_words(question, ["0 1"]) == "The → cat"
    assert _answer_words(question, ["1 0"]) == "(<bos>→猫) → The"
