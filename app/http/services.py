"""The services of a server, found by their type.

Each subject opens its own when the server starts, and takes those of others by their type. What a
module needs is therefore what it imports:

    runs = services[Runs]
"""

from collections.abc import Callable
from typing import Annotated, Any, TypeVar, cast

from fastapi import Depends, Request

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
