"""The choice of a replica for each turn."""

import random
from typing import Any

from ray.serve.experimental.consistent_hash_router import ConsistentHashRouter


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
