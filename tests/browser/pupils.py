"""Students of a room without browsers: they follow, answer, explore, reload, drop out, come back.

They talk to the server as a page does, over server-sent events and POST requests, each with its own
habits, and note what the server acknowledged and everything that should not have happened.
"""

import asyncio
import contextlib
import json
import random
import threading
from collections import Counter
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any

import httpx

HABITS = ("follows",) * 6 + ("explores", "reloads", "drops")
OWN = ("Birds sing.", "The old man sold the boat.", "我喜欢喝茶。", "She reads because it rains.")
TYPED = ("0.5", "0", "1", "0.33")
AWAY_SECONDS = 4.0
SLOWEST_SECONDS = 5.0  # of an answer


@dataclass
class Pupil:
    """One student, and what happened to them."""

    number: int
    habit: str
    token: str
    states: int = 0
    seq: int = 0
    joins: int = 0
    over: bool = False
    answers: dict[tuple[int, str], list[str]] = field(default_factory=dict)  # acknowledged
    refused: int = 0
    traced: int = 0
    complaints: list[str] = field(default_factory=list)


class Pupils:
    """A number of students in a thread of their own, until the room has ended."""

    def __init__(self, url: str, code: str, number: int, seed: int = 1) -> None:
        self.url = url
        self.code = code
        self.draw = random.Random(seed)
        self.all = [
            Pupil(n, HABITS[n % len(HABITS)], f"pupil-{n:02}-{self.draw.getrandbits(40):x}")
            for n in range(number)
        ]
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)

    def begin(self) -> None:
        """Let them join, within a few seconds of each other."""
        self._thread.start()

    def join(self, seconds: float = 30) -> None:
        """Wait until all have seen the end of the room."""
        self._thread.join(seconds)
        late = [pupil.number for pupil in self.all if not pupil.over]
        assert not late, f"not told that the room has ended: {late}"

    def acknowledged(self) -> Counter[tuple[int, str, str]]:
        """Count the answers that the server accepted, by question, vote and answer."""
        given = [
            (n, vote, " ".join(answer))
            for pupil in self.all
            for (n, vote), answer in pupil.answers.items()
        ]
        return Counter(given)

    def complaints(self) -> list[str]:
        """Everything that should not have happened."""
        return [f"{p.number} ({p.habit}): {what}" for p in self.all for what in p.complaints]

    async def _run(self) -> None:
        limits = httpx.Limits(max_connections=None)
        async with httpx.AsyncClient(
            base_url=self.url, trust_env=False, timeout=40, limits=limits
        ) as client:
            await asyncio.gather(*(self._attend(client, pupil) for pupil in self.all))

    async def _attend(self, client: httpx.AsyncClient, pupil: Pupil) -> None:
        await asyncio.sleep(self.draw.uniform(0, 3))
        answering: set[asyncio.Task[None]] = set()
        while not pupil.over:
            with contextlib.suppress(httpx.TransportError, TimeoutError):
                async with (
                    asyncio.timeout(self._patience(pupil)),
                    contextlib.aclosing(self._states(client, pupil)) as states,
                ):
                    async for state in states:
                        self._hear(client, pupil, state, answering)
            if pupil.habit == "drops" and not pupil.over:
                await asyncio.sleep(AWAY_SECONDS)
        await asyncio.gather(*answering)

    def _patience(self, pupil: Pupil) -> float | None:
        """Return after how many seconds a student's connection ends."""
        return None if pupil.habit in ("follows", "explores") else self.draw.uniform(5, 15)

    async def _states(
        self, client: httpx.AsyncClient, pupil: Pupil
    ) -> AsyncGenerator[dict[str, Any]]:
        """Yield the states of one connection."""
        pupil.joins += 1
        asked = {"member": pupil.token}
        if pupil.habit == "explores":
            asked["exploring"] = "true"
        path = f"/api/rooms/{self.code}/events"
        async with client.stream("GET", path, params=asked) as reply:
            if reply.status_code == 404:  # it ended meanwhile
                pupil.over = True
                return
            if reply.status_code != 200:
                pupil.complaints.append(f"joining: {reply.status_code}")
                await asyncio.sleep(1)
                return
            async for line in reply.aiter_lines():
                if line.startswith("data: "):
                    yield json.loads(line[6:])

    def _hear(
        self,
        client: httpx.AsyncClient,
        pupil: Pupil,
        state: dict[str, Any],
        answering: set[asyncio.Task[None]],
    ) -> None:
        if state["seq"] < pupil.seq:
            pupil.complaints.append(f"state {state['seq']} after {pupil.seq}")
        pupil.seq, pupil.over = state["seq"], state["over"]
        pupil.states += 1
        question = state["question"]
        if (
            question
            and question["stage"] != "revealed"
            and (question["results"] or question["truth"])
        ):
            pupil.complaints.append(f"saw answers in the stage {question['stage']}")
        doing = [self._explore(client, pupil)] if pupil.habit == "explores" else []
        if question and question["stage"] in ("first", "second"):
            vote = (question["n"], question["stage"])
            if vote not in pupil.answers:
                pupil.answers[vote] = []
                doing.append(self._answer(client, pupil, question))
        answering.update(map(asyncio.create_task, doing))

    async def _answer(
        self, client: httpx.AsyncClient, pupil: Pupil, question: dict[str, Any]
    ) -> None:
        await asyncio.sleep(self.draw.uniform(0.5, SLOWEST_SECONDS))
        vote = (question["n"], question["stage"])
        body = {"member": pupil.token, "n": question["n"], "answer": self._thinks(question)}
        reply = await client.post(f"/api/rooms/{self.code}/answers", json=body)
        if reply.status_code == 204:
            pupil.answers[vote] = body["answer"]
            return
        pupil.answers.pop(vote)
        pupil.refused += 1
        if reply.status_code not in (404, 409):  # the vote is over
            pupil.complaints.append(f"answering: {reply.status_code} {reply.text}")

    def _thinks(self, question: dict[str, Any]) -> list[str]:
        kind = question["ask"]["kind"]
        if question["entry"] == "text":
            return [self.draw.choice(OWN)]
        if question["entry"] == "numbers":
            fields = {"input": 2}.get(question["ask"].get("step"), 3) if kind == "row" else 1
            return [self.draw.choice(TYPED) for _ in range(fields)]
        if question["entry"] == "shares":
            return [f"{self.draw.random():.2f}" for _ in range(6)]
        # After talking to their neighbours, they agree more.
        some = {"off": ("same", "changes")}.get(kind, ("0", "1", "2", "3", "5"))
        weights = [3 if question["stage"] == "second" else 1] + [1] * (len(some) - 1)
        return self.draw.choices(some, weights[::-1])

    async def _explore(self, client: httpx.AsyncClient, pupil: Pupil) -> None:
        reply = await client.post("/api/trace", json={"source": self.draw.choice(OWN)})
        pupil.traced += 1
        if reply.status_code != 200:
            pupil.complaints.append(f"exploring: {reply.status_code} {reply.text}")
