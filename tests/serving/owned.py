"""What a test created over HTTP, as the holder of its key and others use it."""

import csv
import io
from dataclasses import dataclass, replace
from typing import Any, Self

import httpx

from app.http.replies import MARK


def bearer(key: str) -> dict[str, str]:
    """Return the headers of who holds a key."""
    return {"Authorization": f"Bearer {key}"}


@dataclass(frozen=True)
class Owned:
    """A room, an assignment, a study …: requests are sent to what is below its path."""

    client: httpx.AsyncClient
    path: str
    key: dict[str, str]  # the headers of every request; none for who has no key
    reply: dict[str, Any]  # to the request that created it

    @property
    def anyone(self) -> Self:
        """The same, as used without a key."""
        return self.by({})

    def by(self, key: dict[str, str], client: httpx.AsyncClient | None = None) -> Self:
        """Return the same as used with another key, or by another client."""
        return replace(self, key=key, client=client or self.client)

    async def send(
        self, method: str, path: str = "", body: object = None, **headers: str
    ) -> httpx.Response:
        sent = {**self.key, **headers}
        return await self.client.request(method, self.path + path, json=body, headers=sent)

    async def get(self, path: str = "", **headers: str) -> httpx.Response:
        return await self.send("GET", path, **headers)

    async def put(self, path: str, body: object) -> httpx.Response:
        return await self.send("PUT", path, body)

    async def post(self, path: str, body: object = None) -> httpx.Response:
        return await self.send("POST", path, body)

    async def patch(self, path: str, body: object) -> httpx.Response:
        return await self.send("PATCH", path, body)

    async def delete(self, path: str = "") -> httpx.Response:
        return await self.send("DELETE", path)

    async def read(self, path: str = "") -> Any:
        """Return a document."""
        reply = await self.get(path)
        assert reply.status_code == 200, reply.text
        return reply.json()

    async def rows(self, path: str = "/answers.csv") -> list[dict[str, str]]:
        """Return the rows of a table of answers, which nobody may store."""
        reply = await self.get(path)
        assert reply.status_code == 200, reply.text
        assert reply.headers["content-type"].startswith("text/csv")
        assert reply.headers["cache-control"] == "no-store"
        return list(csv.DictReader(io.StringIO(reply.text.removeprefix(MARK))))
