"""A class for the tests of questions: a teacher who presents, and two students who follow."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import Browser

from tests.rooms.classroom_page import LINK, Classroom, OpenClass, present, reader
from tests.servers import AppServer


@pytest.fixture
def open_class(browser: Browser, live_server: AppServer) -> Iterator[OpenClass]:
    """Return what presents a link to two students, one of them on a phone."""
    with ExitStack() as stack:

        def opened(link: str = LINK) -> Classroom:
            teacher, phone, laptop = (
                stack.enter_context(reader(browser, width)) for width in (1280, 390, 1280)
            )
            code = present(teacher, live_server, link)
            for student in (phone, laptop):
                student.goto(f"{live_server.url}/room/{code}")
            return Classroom(teacher, phone, laptop, code)

        yield opened
