"""What a route depends on: the services of the server, and the key of what a client has created.

Each subject opens its own service when the server starts, and takes those of others by their type.
What a module needs is therefore what it imports:

    runs = services[Runs]

A key is a bearer token, which the reply to a creation has.
"""

from collections.abc import Callable
from typing import Annotated, Any, TypeVar, cast

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from app.http.problems import ProblemError

Service = TypeVar("Service")


class Services:
    """One service of each type."""

    def __init__(self, *services: object) -> None:
        self._by_type: dict[type[Any], object] = {}
        self._streams: list[Callable[[], None]] = []
        for service in services:
            self.add(service)

    def __getitem__(self, kind: type[Service]) -> Service:
        return cast(Service, self._by_type[kind])

    def add(self, service: object, kind: type[Any] | None = None) -> None:
        """Add a service, to be found by its own type, or else as one of a `kind`."""
        self._by_type[kind or type(service)] = service

    def on_shutdown(self, hang_up: Callable[[], None]) -> None:
        """Register what ends a service's open streams, which would last as long as it does."""
        self._streams.append(hang_up)

    def hang_up(self) -> None:
        """End all open streams, because the server is about to end."""
        for hang_up in self._streams:
            hang_up()


async def _of_request(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


Opened = Annotated[Services, Depends(_of_request)]


def key_of(thing: str, path: str) -> Callable[[str | None], str]:
    """Return a dependency that reads the key of a `thing`, which ``POST path`` has created.

    It raises a 403 `ProblemError` of the kind ``wrong-{thing}-key`` if a request has none.
    """

    def required(key: Annotated[str | None, Depends(optional_key_of(path))]) -> str:
        if key is None:
            detail = f"Authorization must be Bearer and the {thing}'s key"
            raise ProblemError(403, f"wrong-{thing}-key", detail)
        return key

    return required


def optional_key_of(path: str) -> Callable[[HTTPAuthorizationCredentials | None], str | None]:
    """Return a dependency that reads such a key; None if a request has none."""
    bearer = HTTPBearer(auto_error=False, description=f"From the reply to `POST {path}`.")

    def optional(
        credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)],
    ) -> str | None:
        return credentials.credentials if credentials else None

    return optional


def problems_of(thing: str) -> dict[str, str]:
    """Describe the problems of reading a stored `thing` by its id, for `replies.problems`."""
    return {
        "_404": f"No such {thing}.",
        "_410": f"The {thing} is damaged.",
        "_422": "The id is too long.",
    }
