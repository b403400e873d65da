"""What all adapters share to decode: the search that a request selects, its prefix, and a cache."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from threading import Lock

from cachetools import LRUCache

from model.adapters.requests.request import Decode, Request
from model.decode.beam_search import beam
from model.decode.decoding_steps import SearchStep
from model.decode.greedy_and_sampling import Draw, Ends, Predictor, sample
from model.errors import Excess, InputError

CACHED = 512  # recent decodings
BEYOND_SOURCE = 50  # tokens by which a translation may exceed its source (section 6.1)
Ids = tuple[int, ...]


class DecodedIds:
    """The ids of recent decodings, by everything that a decoding depends on. Thread-safe."""

    def __init__(self) -> None:
        self._ids: LRUCache[Hashable, Ids] = LRUCache(CACHED)
        self._lock = Lock()

    def get(self, read: Iterable[int], request: Request) -> Ids | None:
        """Return what a request wrote after the model had read these ids, if it is cached."""
        with self._lock:
            return self._ids.get(_key(read, request))

    def put(self, read: Iterable[int], request: Request, ids: Ids) -> None:
        """Cache what a request wrote."""
        with self._lock:
            self._ids[_key(read, request)] = ids


def _key(read: Iterable[int], request: Request) -> Hashable:
    return tuple(read), request.decode, request.interventions


def draw_of(decode: Decode) -> Draw | None:
    """Return the sampling options; None if nothing is sampled."""
    if decode.method != "sample":
        return None
    return Draw(decode.temperature, decode.top_k, decode.top_p, decode.seed)


def search_steps(reader: Predictor, ends: Ends, decode: Decode, limit: int) -> Iterator[SearchStep]:
    """Yield the steps of the search that `decode` selects."""
    if decode.method == "beam":
        return beam(reader, ends, limit, decode.beam, decode.length_penalty, decode.prefix)
    return sample(reader, ends, [limit], [draw_of(decode)], [decode.prefix])


def check_prefix(prefix: Ids, limit: int, writable: Callable[[int, int], bool]) -> None:
    """Raise `InputError` for too long a prefix, or for an id that cannot be written at its index.

    `writable` is called with the index and the id.
    """
    if len(prefix) > max(limit, 0):
        detail = f"decode.prefix has {len(prefix)} tokens; this output has at most {limit}"
        excess = Excess(limit, "tokens", len(prefix))
        raise InputError("too-long", "decode.prefix", detail, excess)
    for index, id_ in enumerate(prefix):
        if not writable(index, id_):
            field = f"decode.prefix[{index}]"
            detail = f"{field} must be the id of a token that can be written there"
            raise InputError("unknown-token", field, detail)
