"""The page is checked with the types of the server's present requests and replies."""

from tests.js.server_types import FILE, content


def test_types_are_those_of_the_api() -> None:
    assert FILE.read_text(encoding="utf-8") == content(), "make types"
