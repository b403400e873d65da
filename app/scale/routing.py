"""Which replica takes a turn."""

import random
from typing import Any

from ray.serve.experimental.consistent_hash_router import ConsistentHashRouter


class StreamsStay(ConsistentHashRouter):  # type: ignore[misc]  # its package is not checked
    """The lines of a stream go where its first one went; all else to the less busy of two.

    A handle names a stream by its `session_id`. Two are enough to share load well (Mitzenmacher
    2001), and need two lengths of queues instead of all.
    """

    async def choose_replicas(
        self, candidate_replicas: list[Any], pending_request: Any = None
    ) -> list[list[Any]]:
        """Ranks of replicas; the least busy of the first rank that takes it gets it."""
        if pending_request is not None and pending_request.metadata.session_id:
            ranks: list[list[Any]]
            ranks = await super().choose_replicas(candidate_replicas, pending_request)
            return ranks
        if pending_request is not None:
            pending_request.routing_context.should_backoff = True
        return [random.sample(candidate_replicas, min(2, len(candidate_replicas)))]
