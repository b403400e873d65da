"""A runner that sends turns to the replicas of a Ray cluster, and its choice of one for each turn.

    engine ─▶ Slot ─▶ handle ─▶ the less busy of two replicas ─▶ Worker

The messages are the same as with an engine process. If a replica exits during a turn, the turn
raises CrashedError and the engine gives the work to another replica. Work has no side effects, so
it may run twice.
"""

import asyncio
import contextlib
import logging
import pickle
import random
import secrets
import signal
import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import ray
from ray import serve
from ray.exceptions import GetTimeoutError, RayActorError, RayError, TaskCancelledError
from ray.serve.exceptions import (
    DeploymentUnavailableError,
    RayServeException,
    ReplicaUnavailableError,
    RequestCancelledError,
)
from ray.serve.experimental.consistent_hash_router import ConsistentHashRouter

from app.engine.child_process import encode
from app.engine.engine_process import Ended, Run
from app.engine.model_listing import Listing
from app.engine.model_thread import Batch, Line, Outcome, Work
from app.engine.runners import CrashedError, Runner, Runners, Turn
from model.progress import Listener, StoppedError, ignore


class StreamsStay(ConsistentHashRouter):  # type: ignore[misc]  # its package is not checked
    """Sends a stream's lines, or the views of a long text, to one replica.

    A handle identifies a stream, or the pass over a text, by its `session_id`. Other work goes to
    the less busy of two random replicas, which is enough to balance load well (Mitzenmacher 2001)
    and needs only two queue lengths.
    """

    async def choose_replicas(
        self, candidate_replicas: list[Any], pending_request: Any = None
    ) -> list[list[Any]]:
        """Rank the replicas: the least busy one of the first rank that accepts gets the turn."""
        if pending_request is not None and pending_request.metadata.session_id:
            ranks: list[list[Any]]
            ranks = await super().choose_replicas(candidate_replicas, pending_request)
            return ranks
        if pending_request is not None:
            pending_request.routing_context.should_backoff = True
        return [random.sample(candidate_replicas, min(2, len(candidate_replicas)))]


TRIES = 3  # attempts to run work whose replica exits
SLOTS = 4  # turns per model that a server may have in the cluster at once
CONNECT_SECONDS = 5.0
OPEN_SECONDS = 60.0  # for a replica to describe its model

ENDED = (RayActorError, ReplicaUnavailableError, DeploymentUnavailableError)
STOPPED = (asyncio.CancelledError, RequestCancelledError, TaskCancelledError)

log = logging.getLogger(__name__)

Handles = Mapping[str, Any]  # handles of Ray Serve, by the model's id


class Slot(Runner):
    """Runs one turn per model at a time, and an urgent one, on any replica that has room."""

    many = True
    ready = True  # turns wait in the cluster if there is no replica

    def __init__(self, handles: Handles) -> None:
        self._handles = handles
        self._origin = secrets.randbits(96) << 32  # stream numbers are unique across servers
        self._streams: dict[int, str] = {}  # the model of each stream
        self._forgetting: set[asyncio.Future[None]] = set()

    def open(self, changed: Callable[[], None]) -> None:
        """Do nothing: it is always ready."""

    def start(self, work: Work, urgent: bool = False, listener: Listener = ignore) -> Turn:
        """Send the work to a replica, which does not report progress."""
        if isinstance(work, Line):
            self._streams[work.stream] = work.job.model
            handle = self._of_stream("run", work.job.model, work.stream)
            work = replace(work, stream=self._origin + work.stream)
        else:
            # Views of a long text go where its pass is kept, from all servers.
            session = {"session_id": work.long_pass} if work.long_pass else {}
            handle = self._handles[work.jobs[0].model].options(method_name="run", **session)
        response = handle.remote(encode(Run(0, work, urgent)))
        return Turn(asyncio.ensure_future(_ended(response, work)), response.cancel)

    def forget(self, stream: int) -> None:
        """Tell the replica that has the stream."""
        if model := self._streams.pop(stream, None):
            response = self._of_stream("forget", model, stream).remote(self._origin + stream)
            task = asyncio.ensure_future(_quietly(response))
            self._forgetting.add(task)
            task.add_done_callback(self._forgetting.discard)

    async def close(self) -> None:
        """Do nothing: the replicas are shared with other servers."""
        await asyncio.gather(*self._forgetting)

    def _of_stream(self, method: str, model: str, stream: int) -> Any:
        session = f"{self._origin + stream:x}"
        return self._handles[model].options(method_name=method, session_id=session)


async def _ended(response: Any, work: Work) -> list[Outcome]:
    """Return the outcomes of a turn. Raises CrashedError if its replica has exited."""
    try:
        ended: Ended = pickle.loads(await response)
    except STOPPED as error:
        stopped = StoppedError()
        stopped.__cause__ = error
        return [Outcome(error=stopped) for _ in _parts(work)]
    except ENDED as error:
        raise CrashedError from error
    except (RayError, RayServeException) as error:  # the cluster's own failure, for the log
        return [Outcome(error=error) for _ in _parts(work)]
    return ended.outcomes


def _parts(work: Work) -> Sequence[object]:
    return work.jobs if isinstance(work, Batch) else (work,)


async def _quietly(response: Any) -> None:
    with contextlib.suppress(RayError, RayServeException):  # an exited replica has forgotten it
        await response


def in_cluster(address: str, models: Iterable[str], slots: int | None = None) -> Runners:
    """Return runners for models, each of which is an application in the cluster. Blocks.

    Raises RuntimeError if the cluster does not exist, or no application has a replica.
    """
    try:
        _join(address)
    except (OSError, ValueError, RuntimeError) as error:
        raise RuntimeError(f"there is no cluster at {address}: {error}") from error
    handles: dict[str, Any] = {}
    listing = Listing({}, {}, 0)
    for model in models:
        try:
            handle = _handle(model)
            opened = _listing(model, handle)
        except RuntimeError as error:
            log.error("the model %s cannot be used: %s", model, error)
            listing.unopened[model] = "the cluster has no replica of it that answers"
            failed = error
            continue
        handles[model] = handle
        listing.infos.update(opened.infos)
        listing.recorded.update(opened.recorded)
    if not handles:
        raise failed
    listing = replace(listing, at_once=len(handles))
    return Runners(listing, [Slot(handles) for _ in range(slots or SLOTS)], tries=TRIES)


def _join(address: str) -> None:
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), CONNECT_SECONDS):
        pass  # checked first, since Ray would try for minutes
    end = signal.getsignal(signal.SIGTERM)
    ray.init(address, log_to_driver=False, configure_logging=False)
    signal.signal(signal.SIGTERM, end)  # Ray's handler would end the process at once
    serving = logging.getLogger("ray.serve")
    serving.setLevel(logging.WARNING)
    serving.handlers.clear()  # its log lines then have this server's format
    serving.propagate = True


def _handle(model: str) -> Any:
    try:
        return serve.get_app_handle(model)
    except RayServeException as error:
        raise RuntimeError(
            f"the cluster has no application {model!r}; python -m app.scale creates it: {error}"
        ) from error


def _listing(model: str, handle: Any) -> Listing:
    try:
        listing: Listing = pickle.loads(handle.listing.remote().result(timeout_s=OPEN_SECONDS))
    except (GetTimeoutError, TimeoutError, *ENDED) as error:
        detail = f"no replica of {model!r} answered within {OPEN_SECONDS:g} seconds"
        raise RuntimeError(detail) from error
    return listing
