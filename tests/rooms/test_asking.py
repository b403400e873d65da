"""Questions to a room over HTTP, and the sums of the answers."""

import io
import re
import time
from collections.abc import Sequence
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.rooms.room_document import MAX_GIVEN, check, tally
from app.rooms.schemas import Truth
from tests.rooms.room_client import Room

CHOICE = {"entry": "choice", "ask": {"kind": "looks", "link": "source=Hi&query=0"}}
SENTENCE = {"entry": "text", "ask": {"kind": "sentence", "link": ""}}
MEMBERS = [f"member-{n}" for n in range(4)]


async def each(room: Room, *answers: Sequence[str], n: int = 1) -> None:
    """Let the members answer in turn; "102" is an answer of three parts."""
    for member, answer in zip(MEMBERS, answers, strict=False):
        assert await room.answer(member, list(answer), n) == 204, answer


async def test_two_votes_and_the_class_sees_them_only_when_revealed(room: Room) -> None:
    assert await room.answer(MEMBERS[0], ["1"]) == 409  # nothing is asked
    asked = (await room.ask(CHOICE)).json()
    assert asked["question"]["stage"] == "first"
    await each(room, *"0012")
    await each(room, ["1"])  # changes the first answer
    assert await room.answer(MEMBERS[0], ["1"], n=2) == 409
    seen = await room.question()
    assert (seen["results"], seen["truth"]) == (None, None)
    assert (await room.read("/class"))["answered"] == 4
    await room.proceed("discuss")
    assert await room.answer(MEMBERS[0], ["2"]) == 409
    await room.proceed("second")
    await each(room, *"111")
    question = await room.proceed("revealed", truth={"right": ["1"]})
    first, second = (question["results"][vote] for vote in ("first", "second"))
    assert first["chosen"] == {"0": 1, "1": 2, "2": 1}
    assert (first["count"], first["right"]) == (4, 2)
    assert (second["count"], second["right"]) == (3, 3)
    assert await room.answer(MEMBERS[0], ["0"]) == 409
    back = await room.patch("/question", {"stage": "second"})
    assert (back.status_code, back.json()["type"]) == (409, "urn:headlight:not-asking")
    assert await room.question() == question


async def test_anyone_with_the_code_reads_how_many_have_answered(room: Room) -> None:
    async def counted() -> Any:
        return await room.anyone.read("/answered")

    assert await counted() == {"answered": 0}
    await room.ask(CHOICE)
    await each(room, *"001")
    await each(room, "1")  # changes the first answer
    assert await counted() == {"answered": 3}
    await room.proceed("discuss")
    await room.proceed("second")
    assert await counted() == {"answered": 0}
    unknown = await room.client.get("/api/rooms/aaaaaa/answered")
    assert (unknown.status_code, unknown.json()["type"]) == (404, "urn:headlight:unknown-room")


async def test_a_timer_is_of_one_stage_and_the_vote_goes_on(room: Room) -> None:
    async def timed(seconds: int) -> Any:
        return await room.put("/question/timer", {"seconds": seconds})

    assert (await timed(60)).status_code == 409
    await room.ask(CHOICE)
    assert [(await timed(seconds)).status_code for seconds in (-1, 3_601)] == [422] * 2
    now = time.time()
    assert now + 60 <= (await timed(60)).json()["question"]["ends"] <= time.time() + 60
    await each(room, ["1"])
    assert "ends" not in await room.proceed("discuss")
    await timed(1)
    assert "ends" not in (await timed(0)).json()["question"]
    await room.proceed("revealed")
    assert (await timed(60)).status_code == 409


async def test_the_table_has_all_answers_and_no_name(room: Room) -> None:
    await room.ask(CHOICE)
    await each(room, ["1"], ["1"])
    await room.ask(SENTENCE)
    await each(room, ["=HYPERLINK(1)"], n=2)
    rows = await room.rows()
    assert [(row["question"], row["kind"], row["second vote"]) for row in rows] == [
        ("1", "looks", ""), ("1", "looks", ""), ("2", "sentence", ""),
    ]  # fmt: skip
    assert rows[2]["first vote"] == "'=HYPERLINK(1)"  # no formula
    assert len({row["member"] for row in rows}) == 3
    assert not any(member in str(rows) for member in MEMBERS)


WORDED = {
    **CHOICE,
    "wording": {"words": "Where does it look?", "choices": {"0": "the", "1": "cat", "2": "我"}},
}


async def test_files_say_questions_and_choices_in_words_and_what_was_right(room: Room) -> None:
    # Each page words it in its own language.
    assert "Where does it look" not in (await room.ask(WORDED)).text
    await each(room, *"012")
    before = await room.read("/answers.json")
    assert [one["first_right"] for one in before["questions"][0]["answers"]] == [None] * 3
    await room.proceed("discuss")
    await room.proceed("second")
    for member in MEMBERS[1:4]:
        await room.answer(member, ["1"])
    await room.proceed("revealed", truth={"right": ["1"]})
    about = {"kind": "number", "link": "", "words": "How many heads?", "value": 8, "within": 0.5}
    await room.ask({"entry": "numbers", "ask": about})
    await each(room, ["7.75"], ["7"], n=2)
    await room.proceed("revealed")
    row = {"entry": "shares", "ask": {"kind": "row", "link": ""}, "wording": WORDED["wording"]}
    await room.ask(row)
    await each(room, ["1", "3", "0"], n=3)
    await room.proceed("revealed", truth={"numbers": [0.1, 0.8, 0.1]})

    rows = await room.rows()
    names = ("words", "right answer", "first vote", "first right", "second vote", "second right")
    where = "Where does it look?"
    assert [tuple(row[name] for name in names) for row in rows] == [
        (where, "cat", "the", "no", "", ""),
        (where, "cat", "cat", "yes", "cat", "yes"),
        (where, "cat", "我", "no", "cat", "yes"),
        (where, "cat", "", "", "cat", "yes"),
        ("How many heads?", "8", "7.75", "yes", "", ""),
        ("How many heads?", "8", "7", "no", "", ""),
        (where, "the 0.10; cat 0.80; 我 0.10", "the 0.25; cat 0.75; 我 0.00", "yes", "", ""),
    ]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", row["time (UTC)"]) for row in rows)

    assert (await room.anyone.get("/answers.json")).status_code == 403
    record = await room.read("/answers.json")
    first, second, third = record["questions"]
    assert (first["words"], first["choices"]["2"], first["truth"]["right"]) == (where, "我", ["1"])
    assert first["votes"]["first"]["chosen"] == {"0": 1, "1": 1, "2": 1}
    assert first["votes"]["second"]["right"] == 3
    assert (second["truth"]["numbers"], second["votes"]["first"]["right"]) == ([8], 1)
    assert third["answers"][0]["first"] == ["1", "3", "0"]
    assert len(record["states"]) == 1
    assert not any(member in str(record) for member in MEMBERS)


async def test_nicknames_are_in_the_table_where_they_were_asked_for(room: Room) -> None:
    body = {"member": MEMBERS[0], "n": 1, "answer": ["1"], "nickname": " =Ann "}
    assert (await room.ask(CHOICE)).json()["question"]["nicknames"] is False
    refused = await room.anyone.post("/answers", body)
    assert (refused.status_code, refused.json()["field"]) == (422, "nickname")
    await each(room, ["1"])
    asked = await room.ask({**CHOICE, "nicknames": True})
    assert asked.json()["question"]["nicknames"] is True
    for wrong in ("", "  ", "a" * 41, "a\nb", "\u202eb", 1):
        reply = await room.anyone.post("/answers", {**body, "n": 2, "nickname": wrong})
        assert (reply.status_code, reply.json()["field"]) == (422, "nickname"), wrong
    assert await room.answer(MEMBERS[0], ["1"], 2, nickname=" =Ann ") == 204
    assert await room.answer(MEMBERS[1], ["1"], 2) == 204
    assert [row["nickname"] for row in await room.rows()] == ["", "'=Ann", ""]
    assert [one.get("nickname") for one in await room.answers()] == ["=Ann", None]
    assert "Ann" not in str(await room.state())


async def test_a_sentence_can_be_removed_before_it_is_shown(room: Room) -> None:
    await room.ask(SENTENCE)
    await each(room, ["Rude."], ["<b>Kind.</b>"])
    answers = await room.answers()
    assert [one["answer"] for one in answers] == [["Rude."], ["<b>Kind.</b>"]]
    path = f"/answers/{answers[0]['id']}"
    assert (await room.anyone.delete(path)).status_code == 403
    assert [(await room.delete(path)).status_code for _ in range(2)] == [204, 404]
    assert [one["answer"] for one in await room.answers()] == [["<b>Kind.</b>"]]
    assert (await room.anyone.get("/answers")).status_code == 403
    await room.delete("/question")
    assert await room.question() is None


async def test_an_answer_of_another_form_is_refused(room: Room) -> None:
    forms: list[tuple[str, list[str]]] = [
        ("choice", []), ("choice", ["1", "2"]), ("text", [" "]), ("numbers", ["x"]),
        ("numbers", ["nan"]), ("numbers", []), ("shares", ["0", "0"]), ("shares", ["-1", "2"]),
    ]  # fmt: skip
    for n, (entry, answer) in enumerate(forms, 1):
        await room.ask({**CHOICE, "entry": entry})
        assert await room.answer(MEMBERS[0], answer, n=n) == 422, entry


@settings(deadline=None)
@given(st.integers(1, 6).flatmap(lambda k: st.tuples(*(st.lists(st.lists(st.integers(0, 9),
    min_size=k, max_size=k).filter(any), min_size=1, max_size=6) for _ in "ab"))))  # fmt: skip
def test_rows_are_compared_by_total_variation(case: tuple[list[list[int]], ...]) -> None:
    rows, (truth, *_) = case
    model = np.array(truth) / sum(truth)
    answers = [[str(one) for one in row] for row in rows]
    drawn = np.array(rows) / np.sum(rows, axis=1, keepdims=True)
    found = tally("shares", answers, Truth(numbers=model.tolist()))
    np.testing.assert_allclose(found.mean, drawn.mean(axis=0), atol=1e-12)
    # The largest difference between the probabilities of any set of tokens.
    sets = [np.array(list(np.binary_repr(s, len(model))), int) for s in range(2 ** len(model))]
    apart = [max(abs(one @ (row - model)) for one in sets) for row in drawn]
    assert found.distance == pytest.approx(np.mean(apart))


@pytest.mark.parametrize(("answers", "keys"), [(1, 3), (40, 5), (41, 5), (300, 7), (90, 500)])
def test_the_rows_that_are_sent_are_an_even_selection_from_near_to_far(
    answers: int, keys: int
) -> None:
    random = np.random.default_rng(answers)
    drawn = random.random((answers, keys))
    model = random.random(keys)
    model /= model.sum()
    given = [[str(one) for one in row] for row in drawn]
    found = np.array(tally("shares", given, Truth(numbers=model.tolist())).rows)
    most = min(40, 2_000 // keys)
    assert len(found) == min(answers, most)
    shares = drawn / drawn.sum(axis=1, keepdims=True)
    apart = np.sort(abs(shares - model).sum(axis=1) / 2)
    shown = abs(found - model).sum(axis=1) / 2
    rounding = keys * 0.0005
    assert (np.diff(shown) >= -rounding).all()
    assert shown[0] == pytest.approx(apart[0], abs=rounding)
    assert shown[-1] == pytest.approx(apart[-1], abs=rounding)
    if answers > most > 3:
        assert shown[most // 2] == pytest.approx(np.median(apart), abs=0.05)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=2 * rounding)


async def test_a_stated_number_is_sent_to_nobody_before_it_is_revealed(room: Room) -> None:
    about = {"kind": "number", "link": "", "value": 8, "within": 1, "words": "How many?"}
    asked = (await room.ask({"entry": "numbers", "ask": about})).json()["question"]
    await each(room, ["7"], ["9"], ["6.9"], ["8"])
    for question in (asked, await room.proceed("discuss"), await room.question()):
        assert "value" not in question["ask"]
    await room.proceed("revealed")
    question = await room.question()
    assert question["ask"]["value"] == 8
    assert question["results"]["first"]["right"] == 3
    assert question["truth"]["numbers"] == [8]


def test_numbers_are_right_within_rounding() -> None:
    answers = [["0.61", "1"], ["0.60", "1"], ["0.61", "2"]]
    assert all(check("numbers", one) for one in answers)
    found = tally("numbers", answers, Truth(numbers=[0.6123, 1.0]))
    assert (found.count, found.right) == (3, 1)
    assert found.mean == pytest.approx([0.6067, 4 / 3], abs=1e-3)
    assert found.chosen == {}  # of two fields


def test_no_member_is_the_mean_of_the_class() -> None:
    far, none = [["-1e9"] * 512], [["1"] * 4]
    assert tally("numbers", [["3"], ["5"], *far], None).mean == [4]
    assert tally("numbers", [*far, ["3"]], None).mean == [3]  # none is commoner: the shorter
    assert tally("shares", [["1", "3"], *none, ["3", "1"]], None).mean == [0.5, 0.5]
    orders = [["0", "1"], ["2", "1", "0"], ["0", "1"]]
    assert tally("order", orders, None).mean == [1, 2]


async def test_the_model_s_answer_is_short(room: Room) -> None:
    """Every member is sent it."""
    await room.ask(CHOICE)
    truth = {"right": ["1" * 65]}
    reply = await room.patch("/question", {"stage": "revealed", "truth": truth})
    assert (reply.status_code, reply.json()["field"]) == (422, "truth.right[0]")
    await room.proceed("revealed", truth={"right": ["1" * 64]})


def test_of_one_number_each_is_counted() -> None:
    answers = [["7"], ["7.0"], ["-0.5"], ["1e400"], ["0.333333333"]]
    assert [check("numbers", one) for one in answers] == [True, True, True, False, True]
    found = tally("numbers", [one for one in answers if check("numbers", one)], None)
    assert found.chosen == {"7": 2, "-0.5": 1, "0.333333": 1}
    many = tally("numbers", [[str(n % 40)] for n in range(50)], None)
    assert len(many.chosen) == MAX_GIVEN
    assert set(map(str, range(10))) <= set(many.chosen)  # the most frequent ones


OWN: dict[str, Any] = {
    "entry": "choice",
    "ask": {
        "kind": "choice",
        "link": "",
        "words": "What does softmax do?",
        "options": [
            {"text": "It makes a row sum to 1"},
            {"text": "It picks the largest", "note": "Takes softmax for argmax."},
        ],
        "right": [0],
        "translations": {
            "zh": {"words": "softmax 做什么？", "options": ["使一行之和为 1", "取最大"]}
        },
    },
}
ORDER: dict[str, Any] = {
    "entry": "order",
    "ask": {
        "kind": "order",
        "link": "",
        "words": "In which order?",
        "options": [{"text": "softmax"}, {"text": "scores"}, {"text": "mix"}],
        "right": [1, 0, 2],
    },
}


async def test_what_a_question_states_of_its_answer_is_sent_to_nobody_until_revealed(
    room: Room,
) -> None:
    await room.ask(OWN)
    seen = (await room.question())["ask"]
    assert "right" not in seen
    assert not any(option["note"] for option in seen["options"])
    assert seen["translations"]["zh"]["options"][1] == "取最大"
    await each(room, *"001")
    # The teacher's page counts with it.
    assert (await room.read("/answers"))["truth"]["right"] == ["0"]
    await room.proceed("revealed")
    question = await room.question()
    assert question["ask"] == OWN["ask"] | {"page": "workspace"} | {
        "options": [{"note": "", **option} for option in OWN["ask"]["options"]]
    }
    assert question["results"]["first"]["right"] == 2


async def test_an_order_is_right_as_a_whole(room: Room) -> None:
    await room.ask(ORDER)
    for wrong in (["0"], ["1", "0"], ["0", "1", "1"], ["0", "1", "3"], ["a", "b", "c"], []):
        assert await room.answer(MEMBERS[0], wrong) == 422, wrong
    await each(room, "102", "012", "102")
    await room.proceed("revealed")
    first = (await room.question())["results"]["first"]
    assert (first["count"], first["right"]) == (3, 2)
    assert first["chosen"] == {"1 0 2": 2, "0 1 2": 1}
    assert first["mean"] == [5 / 3, 4 / 3, 3]  # the mean place of each
    rows = await room.rows()
    assert rows[0]["first vote"] == rows[0]["right answer"] != rows[1]["first vote"]
    await room.ask(OWN)
    assert await room.answer(MEMBERS[0], ["2"], n=2) == 422  # there are two options
    assert await room.answer(MEMBERS[0], ["1"], n=2) == 204


POINT: dict[str, Any] = {
    "entry": "cell",
    "ask": {
        "kind": "point",
        "link": "source=The+cat&head=1",
        "words": "Where does this head put most of its weight?",
        "axes": {"rows": ["The", "cat", "<bos>→猫"], "columns": ["The", "cat"]},
        "cells": ["1 0", "2 1"],
    },
}


async def test_a_cell_of_a_figure_is_chosen_and_counted(room: Room) -> None:
    await room.ask(POINT)
    assert "cells" not in (await room.question())["ask"]
    for wrong in (["3 0"], ["0 2"], ["1"], ["1 0", "2 1"], ["01 0"], ["1 0\n"], ["a b"], []):
        assert await room.answer(MEMBERS[0], wrong) == 422, wrong
    await each(room, ["1 0"], ["0 0"], ["2 1"])
    await room.proceed("revealed")
    question = await room.question()
    assert question["ask"]["cells"] == POINT["ask"]["cells"]
    first = question["results"]["first"]
    assert (first["count"], first["right"], first["others"]) == (3, 2, 0)
    assert first["chosen"] == {"1 0": 1, "2 1": 1, "0 0": 1}
    rows = await room.rows()
    assert [row["first vote"] for row in rows] == ["cat → The", "The → The", "(<bos>→猫) → cat"]
    assert [row["first right"] for row in rows] == ["yes", "no", "yes"]
    assert rows[0]["right answer"] == "cat → The / (<bos>→猫) → cat"
    file = await room.get("/questions.zip")
    assert (file.status_code, file.headers["content-type"]) == (200, "application/zip")
    with ZipFile(io.BytesIO(file.content)) as archive:
        item = archive.read("question-1.xml").decode()
    assert 'mapKey="row-2 column-1"' in item
    assert "&lt;bos&gt;→猫" in item
    assert (await room.anyone.get("/questions.zip")).status_code == 403


async def test_a_right_answer_that_no_member_can_give_is_refused(room: Room) -> None:
    point = POINT["ask"]
    without_axes = {name: value for name, value in point.items() if name != "axes"}
    for ask, field in (
        ({**OWN["ask"], "right": [2]}, "ask.right"),
        ({**ORDER["ask"], "right": [0, 1]}, "ask.right"),
        ({**ORDER["ask"], "right": [0, 1, 1]}, "ask.right"),
        (without_axes, "ask.axes"),
        ({**point, "cells": ["3 0"]}, "ask.cells"),
        ({**point, "cells": ["0 2"]}, "ask.cells"),
        ({**point, "axes": {"rows": ["a"] * 61, "columns": ["a"]}}, "ask.axes.rows"),
    ):
        entry = "cell" if ask["kind"] == "point" else ask["kind"]
        reply = await room.ask({"entry": entry, "ask": ask})
        assert (reply.status_code, reply.json()["field"]) == (422, field)
