"""Lesson plans: their minutes are those of the lessons."""

import re

import pytest

from app.lessons.library import lessons, plan
from app.lessons.markdown import Text
from tests.lessons.reading import LANGS

SECTION = re.compile(r"<h2>(\d+) .*?</table>", re.DOTALL)
ROW = re.compile(r"<tr>\s*<td>(\d+)</td>\s*<td>(.*?)</td>", re.DOTALL)
LINK = re.compile(r'<a href="/learn/([a-z-]+)\?lang=([a-z]+)">(.*?)</a>')


@pytest.mark.parametrize("lang", LANGS)
def test_a_plan_takes_as_long_as_its_lessons(lang: str) -> None:
    known = {lesson.slug: lesson for lesson in lessons()}
    html = "".join(str(part.html) for part in plan(lang).parts if isinstance(part, Text))
    sections = list(SECTION.finditer(html))
    assert [section[1] for section in sections] == ["15", "45", "90"]
    for section in sections:
        now = 0
        for start, entry in ROW.findall(section[0]):
            assert int(start) == now, entry
            if link := LINK.fullmatch(entry):
                slug, spoken, title = link.groups()
                assert (spoken, title) == (lang, known[slug].document(lang).title)
                now += known[slug].minutes
        assert now <= int(section[1]) <= now + 5
