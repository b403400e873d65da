"""Lesson plans: their minutes are those of the lessons."""

import re

import pytest

from app.lessons.course import Lesson, lessons, plan, short_lesson
from app.lessons.markdown import Figure, Predict, Text
from tests.lessons.reading import LANGS, prose

SECTION = re.compile(r"<h2>(\d+) .*?</table>", re.DOTALL)
ROW = re.compile(r"<tr>\s*<td>(\d+)</td>\s*<td>(.*?)</td>", re.DOTALL)
PLANNED = {"en": re.compile(r"(\w+)(?: minutes?)? for "), "zh": re.compile("(.)分钟")}
NUMBERS = {
    "en": ["", "one", "two", "three", "four", "five"],
    "zh": ["", "一", "两", "三", "四", "五"],
}
WORDS_PER_MINUTE = 130
LOOKING = 1 / 3  # minutes for a figure
GUESSING = 1  # minutes for a question
# A lesson, or a part of one and its minutes.
LINK = re.compile(r'<a href="/learn/([a-z-]+)\?lang=([a-z]+)">(.*?)</a>(?:\D+(\d+)\D*)?')


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
                slug, spoken, title, minutes = link.groups()
                assert (spoken, title) == (lang, known[slug].document(lang).title)
                now += int(minutes or known[slug].minutes)
                assert int(minutes or 0) < known[slug].minutes
        assert now <= int(section[1]) <= now + 5


@pytest.mark.parametrize("lesson", lessons(), ids=lambda lesson: lesson.slug)
def test_a_lesson_can_be_given_in_its_minutes(lesson: Lesson) -> None:
    """Text and notes read aloud, figures and guesses, and one to four minutes for the class."""
    document = lesson.document("en")
    said = [document.claim.striptags(), *document.notes]
    needed = 0.0
    for part in document.parts:
        if isinstance(part, Text):
            said.append(re.sub("<[^>]+>", " ", part.html.partition("<h2>In the paper")[0]))
        else:
            said += part.notes
            needed += LOOKING if isinstance(part, Figure) else GUESSING
    needed += len(" ".join(said).split()) / WORDS_PER_MINUTE
    assert any(isinstance(part, Predict) for part in document.parts)
    assert 1 <= lesson.minutes - needed <= 4


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("lesson", lessons(), ids=lambda lesson: lesson.slug)
def test_the_first_note_says_how_the_minutes_are_spent(lesson: Lesson, lang: str) -> None:
    parts = PLANNED[lang].findall(lesson.document(lang).notes[0])
    assert sum(NUMBERS[lang].index(part) for part in parts) == lesson.minutes


READ = {"en": (r"\w+", 200), "zh": ("[\u4e00-\u9fff]", 260)}  # words or characters in a minute
TRYING, DECIDING = 1, 0.5  # minutes for a figure, and for a question


@pytest.mark.parametrize("lang", LANGS)
def test_the_shorter_way_takes_ten_minutes(lang: str) -> None:
    """Its text with the questions and their answers, without notes and references."""
    lesson = short_lesson()
    document = lesson.document(lang)
    figures = [part for part in document.parts if isinstance(part, Figure)]
    questions = [part for part in document.parts if isinstance(part, Predict)]
    assert len(figures) == len(questions) == 4
    notes = {note for figure in figures for note in figure.notes}
    notes |= {note for question in questions for note in question.notes} | {*document.notes}
    text = re.split("In the paper|在论文中的位置", prose(lesson, lang))[0]
    words = [line for line in text.splitlines() if line.strip() not in notes]
    pattern, pace = READ[lang]
    reading = len(re.findall(pattern, "\n".join(words))) / pace
    assert lesson.minutes == 10
    assert 9 <= reading + TRYING * len(figures) + DECIDING * len(questions) <= 11
