"""Pictures of attention over a long text: overviews of heads, and tiles of one head.

They are made of passes, which this process caches, limited by bytes.
"""

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from threading import Lock
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from app.engine.jobs import PLAIN, Encoded, Encoding, ReplyJob, lengths, unread, writing
from app.engine.reply_formats import Array, Reply, told
from model.adapters.requests.adapter_interface import Adapter
from model.adapters.requests.model_info import ModelInfo
from model.adapters.requests.request import Request
from model.adapters.requests.trace import LongPass
from model.adapters.requests.validate import check_range
from model.errors import Excess, InputError
from model.long.long_attention import LongAttention, grouped, largest, overview, span
from model.progress import report
from model.trace.tensor_names import select

Precision = Literal["int16", "float32"]

PRECISIONS: dict[Precision, torch.dtype] = {"int16": torch.int16, "float32": torch.float32}

MAX_BYTES = 1_000_000_000


class Passes:
    """Passes by key. The least recently used are evicted first; the newest is always kept.

    Thread-safe. `precision` is that of q and k.
    """

    def __init__(self, max_bytes: int = MAX_BYTES, precision: Precision = "int16") -> None:
        self.max_bytes = max_bytes
        self.dtype = PRECISIONS[precision]
        self._kept: OrderedDict[str, LongPass] = OrderedDict()
        self._lock = Lock()

    @property
    def bytes(self) -> int:
        """Bytes of all cached passes."""
        with self._lock:
            return self._bytes

    @property
    def _bytes(self) -> int:
        return sum(long_pass.bytes for long_pass in self._kept.values())

    @property
    def keys(self) -> frozenset[str]:
        """Keys of all cached passes."""
        with self._lock:
            return frozenset(self._kept)

    def find(self, key: str, make: Callable[[], LongPass]) -> LongPass:
        """Return the cached pass, or make and cache it. Raises what `make` raises."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        long_pass = make()
        with self._lock:
            self._kept[key] = long_pass
            while len(self._kept) > 1 and self._bytes > self.max_bytes:
                self._kept.popitem(last=False)
        return long_pass


STEEP = 8_192  # number of tokens at which attention costs as much as the rest of a layer

PICTURE = 0.5  # cost of an overview of all heads, as a share of a pass

SIDE = 512  # default rows and columns of a large tile

HIDDEN = 255  # in uint8: the mask hides the whole cell; other numbers are weight · 254

CellType = Literal["float32", "float16", "uint8"]

Range = tuple[int, int]


@dataclass(frozen=True)
class View(ABC):
    """A view of a pass."""

    @property
    @abstractmethod
    def sent(self) -> CellType:
        """Return the type of the numbers sent."""

    @abstractmethod
    def tensors(
        self, long_pass: LongPass, info: ModelInfo, limit: int
    ) -> dict[str, tuple[Any, Tensor]]:
        """Return the description and the numbers of each tensor, by name.

        Raises `InputError` if the model or the text does not have the requested part, or for more
        than `limit` numbers.
        """

    @abstractmethod
    def share(self, info: ModelInfo) -> float:
        """Return the share of all heads that it computes completely."""


@dataclass(frozen=True)
class Overview(View):
    """All heads of some attentions, in at most `cells` × `cells` cells."""

    select: tuple[str, ...]
    cells: int
    dtype: CellType = "float16"

    @property
    def sent(self) -> CellType:
        return self.dtype

    def tensors(
        self, long_pass: LongPass, info: ModelInfo, limit: int
    ) -> dict[str, tuple[Any, Tensor]]:
        places = select(self.select, tuple(long_pass.attentions), "select")
        numbers = 0
        for place in places:
            heads, n, m = long_pass.attentions[place].shape
            numbers += heads * min(n, self.cells) * min(m, self.cells)
        if numbers > limit:
            detail = f"select has {numbers} numbers; this format allows at most {limit}"
            raise InputError("reply-too-large", "select", detail, Excess(limit, "numbers", numbers))
        tensors = {}
        for done, place in enumerate(places):
            report("pictures", done, len(places))
            attention = long_pass.attentions[place]
            picture = overview(attention, self.cells)
            tensors[f"{place}.weights.max"] = _described(attention, picture, self.cells)
        return tensors

    def share(self, info: ModelInfo) -> float:
        chosen = select(self.select, info.places, "select")
        heads = {attention.place: attention.heads for attention in info.attentions}
        return sum(heads[place] for place in chosen) / max(1, sum(heads.values()))


def _described(
    attention: LongAttention, picture: Tensor, cells: int
) -> tuple[dict[str, Any], Tensor]:
    _, n, m = attention.shape
    about = {
        "dims": ["head", "query_cell", "key_cell"],
        "over": dict(attention.over),
        "span": {"query": span(n, cells), "key": span(m, cells)},
    }
    return about, picture


@dataclass(frozen=True)
class Tile(View):
    """A window of one head: exact if it has at most `cells` rows and columns, else pooled.

    Without a window, all tokens are shown. Without `cells`, every weight is shown if there are at
    most `max_cells`, else `SIDE` rows and columns. With `edges`, cells are between neighbouring
    edges instead: a cell is the mean over its queries of their total weight on its keys.
    """

    at: str
    head: int
    query: Range | None
    key: Range | None
    cells: tuple[int, int] | None
    edges: tuple[tuple[int, ...], tuple[int, ...]] | None
    max_cells: int

    @property
    def sent(self) -> CellType:
        return "float32"

    def tensors(
        self, long_pass: LongPass, info: ModelInfo, limit: int
    ) -> dict[str, tuple[Any, Tensor]]:
        attention = long_pass.at(self.at)
        heads, n, m = attention.shape
        check_range("head", self.head, 0, heads - 1)
        about: dict[str, Any] = {
            "dims": ["query_cell", "key_cell"],
            "over": dict(attention.over),
            "head": self.head,
        }
        head = attention.head(self.head)
        if self.edges is not None:
            for name, edges, length in zip(("query", "key"), self.edges, (n, m), strict=True):
                _check_edges(f"edges.{name}", edges, length)
            about |= {"edges": dict(zip(("query", "key"), self.edges, strict=True))}
            return {f"{self.at}.weights.sum": (about, grouped(head, *self.edges))}
        rows, keys = _window("query", self.query, n), _window("key", self.key, m)
        tall, wide = rows.stop - rows.start, keys.stop - keys.start
        cells = self.cells or ((tall, wide) if tall * wide <= self.max_cells else (SIDE, SIDE))
        spans = span(tall, cells[0]), span(wide, cells[1])
        about |= {"query": [rows.start, rows.stop], "key": [keys.start, keys.stop]}
        about |= {"span": dict(zip(("query", "key"), spans, strict=True))}
        return {f"{self.at}.weights.max": (about, largest(head, rows, keys, spans))}

    def share(self, info: ModelInfo) -> float:
        return 0.0


def _window(name: str, window: Range | None, length: int) -> slice:
    if window is None:
        return slice(0, length)
    check_range(f"{name}[0]", window[0], 0, length - 1)
    check_range(f"{name}[1]", window[1], window[0] + 1, length)
    return slice(*window)


def _check_edges(name: str, edges: Sequence[int], length: int) -> None:
    check_range(f"{name}[0]", edges[0], 0, length)
    for index, (before, edge) in enumerate(pairwise(edges), start=1):
        check_range(f"{name}[{index}]", edge, before + 1, length)


@dataclass(frozen=True)
class TokensJob(ReplyJob):
    """The tokens of a text, without a run, for any model."""

    request: Request
    identity: str
    encoding: Encoding

    def price(self, info: ModelInfo) -> float:
        """Return the cost of tokenizing the texts."""
        return PLAIN + unread(self.request, 0)

    def alone(self, adapter: Adapter) -> Encoded:
        """Return the reply; raises `InputError` if the model cannot read the text."""
        adapter.check(self.request)
        read = LongPass(adapter.texts_of(self.request), {})
        document = {"id": self.identity, "model": self.model, **told(read), "tensors": {}}
        return self.encoding(Reply(document, {}))


@dataclass(frozen=True)
class LongJob(ReplyJob):
    """A view of a long text, which is run first if its pass is not cached."""

    request: Request
    key: str  # digest of the texts, how to run them, and the model
    view: View
    identity: str  # digest of `key` and the view
    encoding: Encoding

    def alone(self, adapter: Adapter) -> Encoded:
        """Return the reply without caching the pass."""
        return self.seen(adapter, Passes())

    def seen(self, adapter: Adapter, passes: Passes) -> Encoded:
        """Return the reply. Raises `InputError` if the model cannot answer."""
        long_pass = passes.find(self.key, lambda: adapter.long(self.request, passes.dtype))
        limit = self.encoding.limit
        with torch.inference_mode():
            computed = self.view.tensors(long_pass, adapter.info, limit)
        arrays = {name: _array(values, self.view.sent) for name, (_, values) in computed.items()}
        tensors = {
            name: {**about, "shape": arrays[name].shape, "dtype": arrays[name].dtype.name}
            for name, (about, _) in computed.items()
        }
        document = {"id": self.identity, "model": self.model, **self._told(long_pass)}
        encoded = self.encoding(Reply({**document, "tensors": tensors}, arrays))
        return replace(encoded, passes=passes.keys)

    def _told(self, long_pass: LongPass) -> dict[str, Any]:
        if isinstance(self.view, Tile):
            return {}  # the overview already had it
        written = {"output": asdict(long_pass.written)} if long_pass.written else {}
        return {**told(long_pass), **written}

    def price(self, info: ModelInfo) -> float:
        """Return the cost of the pass and the view."""
        return self._run(info) + self.view_price(info)

    def view_price(self, info: ModelInfo) -> float:
        """Return the cost of the view alone, for a cached pass."""
        if "long" not in info.capabilities:
            return PLAIN
        return PLAIN + PICTURE * self.view.share(info) * self._run(info)

    def _run(self, info: ModelInfo) -> float:
        read, written = lengths(self.request, info)
        layers = tuple(info.layers.values())
        once = layers[0] * read * (1 + read / STEEP)
        if len(layers) > 1:
            once += layers[-1] * written * (1 + (read + written) / STEEP)
        return once + writing(self.request, info) + unread(self.request, info.max_tokens)


def _array(values: Tensor, dtype: CellType) -> Array:
    """Return the numbers as sent; a hidden cell is NaN, or 255 in uint8."""
    numbers: Array = values.cpu().numpy()
    if dtype != "uint8":
        return numbers.astype(dtype)
    steps: Array = np.where(np.isnan(numbers), HIDDEN, np.rint(numbers * (HIDDEN - 1)))
    return steps.astype(np.uint8)
