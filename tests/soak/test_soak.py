"""`make soak`: its clients behave as described, and it detects growing memory."""

import os
import random

import httpx
import pytest

from tests.servers import PATIENCE, AppServer
from tests.soak import load
from tests.soak.memory import MEGABYTE, Usage, family, is_flat, usage


def series(*megabytes: float, files: int = 20) -> list[Usage]:
    return [Usage(int(one * MEGABYTE), files) for one in megabytes]


@pytest.mark.parametrize("client", load.CLIENTS)
async def test_a_client_gets_what_it_asks_for(
    live_server: AppServer, monkeypatch: pytest.MonkeyPatch, client: load.Client
) -> None:
    monkeypatch.setattr(load, "STALLED_SECONDS", 0.0)
    async with httpx.AsyncClient(
        base_url=live_server.url, timeout=PATIENCE, trust_env=False
    ) as http:
        statuses = await client(http, random.Random(1))
    assert statuses
    assert not set(statuses) & load.LATER


async def test_an_unexpected_reply_is_reported(live_server: AppServer) -> None:
    async with httpx.AsyncClient(base_url=live_server.url, trust_env=False) as http:
        nothing = await http.get("/api/nothing")
    with pytest.raises(load.UnexpectedError, match="404"):
        load.held(nothing, 200)


def test_growing_memory_is_detected() -> None:
    wave = [400 + 10 * (n % 5) for n in range(60)]
    assert is_flat(series(*wave))
    assert is_flat(series(*range(0, 400, 20), *wave[20:])), "it warms up"
    assert not is_flat(series(*(400 + n * 1.2 for n in range(60))))
    assert not is_flat([*series(*wave[:40]), *series(*wave[40:], files=200)])
    assert is_flat(series(*range(1, 3)))


def test_memory_includes_child_processes() -> None:
    assert os.getpid() in family(os.getppid())
    own = usage(os.getpid())
    assert own.memory > 10 * MEGABYTE
    assert own.files > 3
