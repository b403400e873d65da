"""Rooms over HTTP, and a class in browsers: a teacher who presents, two students who follow."""

import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser

from tests.rooms.classroom_page import LINK, Classroom, OpenClass, present, reader
from tests.rooms.room_client import Room, opened
from tests.servers import AppServer
from tests.serving.fixtures import Serving


@pytest.fixture
async def client(
    serving: Serving, rooms_url: str | None, empty_database: Path, tmp_path: Path
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of an app whose rooms are in memory, or in Redis."""
    shutil.copy(empty_database, tmp_path)
    async with serving(rooms_url=rooms_url) as client:
        yield client


@pytest.fixture
async def room(client: httpx.AsyncClient) -> Room:
    """A room that was opened."""
    return await opened(client)


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
