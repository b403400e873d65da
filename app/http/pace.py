"""Tells clients how often to send requests while the models are busy.

`Headlight-Pace: 2.5` in the reply to a request asks its client to send the next one no sooner than
2.5 seconds later (`app.engine.schedule`). A client that does not is served all the same.
"""

from collections.abc import Callable

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

PACE = "Headlight-Pace"  # seconds


class Paced:
    """Adds the pace, in seconds, to replies to POST requests of the API, unless it is 0."""

    def __init__(self, app: ASGIApp, pace: Callable[[], float]) -> None:
        self.app = app
        self.pace = pace

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return

        async def paced(message: Message) -> None:
            if message["type"] == "http.response.start" and (seconds := self.pace()):
                MutableHeaders(scope=message)[PACE] = f"{seconds:.1f}"
            await send(message)

        await self.app(scope, receive, paced)
