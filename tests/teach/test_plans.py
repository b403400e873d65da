"""Plans for classes become collections."""

import httpx
import pytest

from app.lessons.course import collections_of, lessons, plan_text, plans
from tests.collections.collecting import PATH


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_plans_have_their_lessons_and_fill_their_minutes(lang: str) -> None:
    slugs = {lesson.slug for lesson in lessons()}
    rest = {15: 0, 45: 0, 90: 1}  # minutes for questions of the class
    assert {
        plan.minutes: plan.minutes - sum(x.minutes for x in plan.lessons) for plan in plans(lang)
    } == rest
    for plan in plans(lang):
        assert all(lesson.lesson in slugs and lesson.question for lesson in plan.lessons)
        section = plan_text(lang).split(f"## {plan.title}")[1].split("##")[0]
        rows = [line for line in section.splitlines() if line.startswith("|")]
        assert len(plan.lessons) == sum("](/learn/" in row for row in rows)


async def test_a_plan_becomes_a_collection_with_its_minutes_and_pitfalls(
    client: httpx.AsyncClient,
) -> None:
    for plan in collections_of("zh"):
        body = {"title": plan["title"], "items": plan["items"]}
        made = await client.post(PATH, json=body)
        assert made.status_code == 201, made.text
        one = made.json()
        read = await client.get(f"{PATH}/{one['id']}", headers={"Edit-Key": one["edit_key"]})
        first = read.json()["items"][0]
        assert first["minutes"] == plan["items"][0]["minutes"]
        question = first["questions"][0]["ask"]
        assert question["translations"]["en"]["words"] != question["words"]
    assert "把键和值弄混" in collections_of("zh")[1]["items"][0]["private"]
