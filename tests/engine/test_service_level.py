"""What the server gives up under load, in virtual time: nothing here depends on the machine."""

import asyncio

import httpx
import pytest

from app.engine.engine import BusyError
from app.engine.fair_queue import Client, asking
from app.engine.load_shedding import NOTICED, REST, USUAL, ServiceLevel
from tests.serving.fixtures import Serving
from tests.serving.virtual_time import Class, Priced, engine_of, in_virtual_time, sentence_job

PASS = 0.027  # seconds of a traced pass on a slow machine


def in_class(rows: int) -> float:
    """Return the seconds of a batch: drafting and overhead, and less than a pass for each row."""
    return PASS * (1 + 0.75 * rows)


@pytest.mark.parametrize(("slower", "students"), [(1, 40), (1.5, 40), (1, 200), (3, 200)])
def test_a_class_is_answered(slower: float, students: int) -> None:
    """40 students get answers within 12 passes; of 200, too many for the machine, none is refused.

    With as much work as the machine can do, equal sentences must not interrupt each other.
    """
    seen = Class()
    engine = engine_of(Priced(lambda rows: slower * in_class(rows)))
    in_virtual_time(seen.run(engine, students, 60))
    assert seen.refused == 0
    if students == 40:
        assert seen.at(0.95) <= 12 * slower * PASS
        assert len(seen.times) >= 40 * 60 / 2 * 0.95
    else:
        assert seen.at(0.5) <= 3
        capacity = 8 / (slower * in_class(8))  # sentences per second
        assert len(seen.times) >= 0.8 * capacity * 60, "the models are not left idle"


def test_the_speed_is_measured_while_runners_are_busy() -> None:
    async def main() -> None:
        engine = engine_of(Priced(in_class))
        async with engine:
            assert (engine.sentence_seconds, engine.wait, engine.level) == (None, 0, "full")
            for n in range(30):
                await asyncio.sleep(1)  # idle
                await engine.run(sentence_job(str(n)))
            assert engine.sentence_seconds == pytest.approx(in_class(1))
            engine.runners[0].cost = lambda rows: 5 * in_class(rows)  # type: ignore[attr-defined]
            for n in range(60):
                await engine.run(sentence_job(f"later {n}"))
            assert engine.sentence_seconds == pytest.approx(5 * in_class(1), rel=0.01)

    in_virtual_time(main())


def test_a_request_that_would_wait_too_long_is_refused_at_once() -> None:
    """Others' long queues do not count against a newcomer: only as much of each as it asks for."""

    async def main() -> None:
        engine = engine_of(Priced(lambda rows: rows), max_batch=1, max_wait_seconds=10.5)
        loop = asyncio.get_running_loop()

        async def send(name: str, client: int) -> tuple[float, BusyError | None]:
            asking.set(Client("a", client))
            start = loop.time()
            try:
                await engine.run(sentence_job(f"{client} {name}"))
            except BusyError as busy:
                return loop.time() - start, busy
            return loop.time() - start, None

        async with engine:
            await send("first", 0)
            assert engine.sentence_seconds == 1
            heavy = [asyncio.create_task(send(str(n), 0)) for n in range(20)]
            await asyncio.sleep(0)
            assert engine.level == "paced"
            assert engine.pace == REST * 1, "the heavy client has a queue; a newcomer waits for one"
            seconds, busy = await send("typed", 1)
            assert seconds <= 3
            assert busy is None
            at_once = [busy for seconds, busy in await asyncio.gather(*heavy) if not seconds]
            assert len(at_once) == 20 - 12, "one runs, eleven wait"
            assert all(busy and 2 <= busy.retry_after <= 30 for busy in at_once)

    in_virtual_time(main())


def test_levels_follow_from_the_wait() -> None:
    service = ServiceLevel(2, 10)
    ahead = 2 / USUAL  # a second of each of two runners
    assert service.wait(ahead) == pytest.approx(1)
    for seconds, level, pace in (
        (0, "full", 0),
        (NOTICED * 0.99, "full", 0),
        (NOTICED * 1.01, "paced", 0.2525),
        (1, "paced", 8),
        (9.9, "paced", 20),
        (10.1, "refusing", 20),
    ):
        assert service.level(seconds * ahead) == level
        assert service.pace(seconds * ahead) == pytest.approx(pace)
    assert [service.retry(seconds * ahead) for seconds in (10.1, 19.9, 100)] == [6, 15, 30]
    service.measure(seconds=4, work=ahead)
    assert service.wait(ahead) == 2, "what is measured counts"


async def test_a_reply_tells_the_pace(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving() as client:

        async def paced() -> str | None:
            reply = await client.post("/api/trace", json={"source": "The cat.", "select": []})
            assert reply.status_code == 200
            told: str | None = reply.headers.get("Headlight-Pace")
            return told

        assert await paced() is None
        health = (await client.get("/api/health")).json()
        assert health["sentence_seconds"] > 0
        assert (health["wait_seconds"], health["service"]) == (0, "full")
        monkeypatch.setattr(ServiceLevel, "wait", lambda self, ahead: 0.3)
        assert await paced() == "2.4"
        assert (await client.get("/api/health")).json()["service"] == "paced"
        asked: httpx.Response = await client.get("/api/models")
        assert "Headlight-Pace" not in asked.headers
