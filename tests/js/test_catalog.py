"""What the page says is in the catalog, and every language says all of it."""

import re
from collections.abc import Iterator

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po

from tests.servers import ROOT

LOCALE = ROOT / "locale"
KEYWORDS: dict[str, None] = {"_": None, "t": None}
JINJA = {"newstyle_gettext": "true", "trimmed": "true"}
METHODS = [("templates/**.html", "jinja2"), ("static/js/**.js", "javascript")]
PLACES = re.compile(r"\{\w+\}|%\(\w+\)s")


def said() -> set[str]:
    """Every message of the templates and of the page's JavaScript."""
    found = extract_from_dir(
        ROOT,
        method_map=METHODS,
        options_map={"templates/**.html": JINJA},
        keywords=KEYWORDS,
        directory_filter=lambda path: not re.search(r"/(\.|node_modules|data)", str(path)),
    )
    return {message for _, _, message, _, _ in found if isinstance(message, str)}


def read(path: str) -> Catalog:
    with (LOCALE / path).open("rb") as file:
        return read_po(file)


def messages(catalog: Catalog) -> Iterator[Message]:
    return (message for message in catalog if message.id)


def test_template_has_what_is_said_and_nothing_else() -> None:
    assert {str(message.id) for message in messages(read("messages.pot"))} == said()


@pytest.mark.parametrize("path", sorted(LOCALE.glob("*/LC_MESSAGES/messages.po")))
def test_language_is_complete_and_keeps_the_places(path: object) -> None:
    catalog = read(str(path))
    for message in messages(catalog):
        assert message.string, f"not translated: {message.id}"
        assert not message.fuzzy, f"not sure: {message.id}"
        wanted = sorted(PLACES.findall(str(message.id)))
        assert sorted(PLACES.findall(str(message.string))) == wanted, message.id
    assert {str(message.id) for message in messages(catalog)} == said()


def test_chinese_is_punctuated_in_chinese() -> None:
    for message in messages(read("zh/LC_MESSAGES/messages.po")):
        text = str(message.string)
        assert not re.search(r"[\u4e00-\u9fff][,:;?!]|[,:;?!][\u4e00-\u9fff]", text), text
