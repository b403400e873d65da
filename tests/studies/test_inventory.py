"""The inventory: its two forms are parallel, its texts are sound, and its page is up to date."""

import re
from collections import Counter
from collections.abc import Iterator

import httpx
import pytest

from app.lessons.course import lessons
from app.lessons.inventory import FORMS, RIGHT, Form, Item, Words, inventory
from tests.pages.test_catalog import STILTED, TERMS
from tests.studies.inventory_page import PAGE, written

ITEMS = inventory().items
ids = [item.id for item in ITEMS]


def texts(lang: str) -> Iterator[str]:
    """Yield every text of the inventory in a language."""
    words: list[Words] = [*inventory().misunderstandings.values()]
    for item in ITEMS:
        words += [item.about, item.why]
        for form in FORMS:
            question = item.question(form)
            words += [question.asks, *question.options]
    return (one.text(lang) for one in words)


def test_there_are_sixteen_different_items() -> None:
    assert len(set(ids)) == len(ITEMS) == 16
    asked = [
        item.question(form).asks.text(lang)
        for item in ITEMS
        for form in FORMS
        for lang in ("en", "zh")
    ]
    assert len(set(asked)) == 64


@pytest.mark.parametrize("item", ITEMS, ids=ids)
def test_both_forms_have_one_right_option_and_the_same_misunderstandings(item: Item) -> None:
    kinds = [Counter(option.kind for option in item.question(form).options) for form in FORMS]
    assert kinds[0] == kinds[1]
    assert set(kinds[0].values()) == {1}
    assert set(kinds[0]) - {RIGHT} <= set(inventory().misunderstandings)
    assert len(kinds[0]) == 4
    for form in FORMS:
        for lang in ("en", "zh"):
            options = [option.text(lang) for option in item.question(form).options]
            assert len(set(options)) == 4, options


def test_every_misunderstanding_is_offered() -> None:
    offered = {option.kind for item in ITEMS for option in item.A.options}
    assert offered == {RIGHT, *inventory().misunderstandings}


@pytest.mark.parametrize("form", FORMS)
def test_neither_place_nor_length_gives_the_right_option_away(form: Form) -> None:
    questions = [item.question(form) for item in ITEMS]
    places = Counter(
        next(n for n, option in enumerate(question.options) if option.right)
        for question in questions
    )
    assert set(places.values()) == {4}, "each place has it equally often"
    for lang in ("en", "zh"):
        longest = sum(
            max(question.options, key=lambda option: len(option.text(lang))).right
            for question in questions
        )
        assert longest <= 8, lang


def test_each_lesson_moves_an_item_and_each_item_names_lessons_that_are_there() -> None:
    slugs = {lesson.slug for lesson in lessons()}
    named = {slug for item in ITEMS for slug in item.lessons}
    assert named <= slugs, "in lessons/inventory.toml"
    assert slugs - named == set(), "no item of lessons/inventory.toml names them"


def test_texts_use_the_terms_and_plain_words() -> None:
    for lang, phrases in (("zh", TERMS), ("en", STILTED)):
        for phrase, instead in phrases.items():
            pattern = re.compile(phrase, re.IGNORECASE)
            found = [text for text in texts(lang) if pattern.search(text)]
            assert not found, (instead, found)
    for text in texts("zh"):
        assert not re.search(r"[\u4e00-\u9fff][,:;?!]|[,:;?!][\u4e00-\u9fff]", text), text


def test_the_page_of_the_documentation_is_written_from_it() -> None:
    assert PAGE.read_text(encoding="utf-8") == written(inventory()), "make inventory"


async def test_the_page_shows_every_text_in_the_readers_language(client: httpx.AsyncClient) -> None:
    for lang, other in (("en", "zh"), ("zh", "en")):
        page = (await client.get(f"/study/inventory?lang={lang}")).text.replace("&#39;", "'")
        for text in texts(lang):
            assert text in page
        assert ITEMS[0].why.text(other) not in page


async def test_a_lesson_links_the_items_that_it_should_move(client: httpx.AsyncClient) -> None:
    for lesson in lessons():
        page = (await client.get(f"/learn/{lesson.slug}?lang=en")).text
        linked = re.findall(r'href="/study/inventory\?lang=en#([a-z-]+)"', page)
        assert linked == [item.id for _, item in inventory().moved_by(lesson.slug)]
        assert linked
