"""Tensors by name patterns, or by place: `trace.weights("decoder.0.cross", head=3)`.

`*` stands for any characters, `?` for one, `[abc]`, `[a-z]` and `[!abc]` for one of a set, as in
`fnmatch`. Patterns come from readers, so none is compiled, and one is matched with all names at
once: the names are one text, of which a whole number has a bit per place. The set bits are the
places up to which the pattern has been read so far, in every name (the states of Shift-And,
Baeza-Yates and Gonnet 1992). Each character of a pattern takes a few operations on such numbers.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from model.errors import Excess, InputError
from model.trace.tensor_tap import NamedTensor

LOGITS = ".logits"
EMBEDDING = "embedding"  # the parameter; the embeddings of a text are "source.embedding"
INSIDE = "inside."  # tensors computed from others; matched only by patterns with this prefix
# How much each source token changes a written one. Expensive: only when named in full.
OCCLUSION = f"{INSIDE}occlusion"
GRADIENT_INPUT = f"{INSIDE}gradient-input"
INTEGRATED = f"{INSIDE}integrated-gradients"
CHANGE = f"{INTEGRATED}.change"
GAP = f"{INTEGRATED}.gap"  # the sum of a row minus the change
INTEGRATIONS = frozenset((INTEGRATED, GAP))  # those that need the integral
ATTRIBUTIONS = frozenset((OCCLUSION, GRADIENT_INPUT, INTEGRATED, CHANGE, GAP))
MAX_PATTERNS = 256
MAX_CHARACTERS = 2_048  # of all patterns with a wildcard together
WILDCARDS = frozenset("*?[")
END, BORROWED = "\1", "\0"  # after each name, and in none
NOUNS = {
    "select": ("unknown-tensor", "tensor"),
    "summarise": ("unknown-place", "attention"),
    "among": ("unknown-place", "attention"),
}


def select(patterns: Sequence[str], names: Iterable[str], field: str = "select") -> tuple[str, ...]:
    """Return the names, in the model's order, that match any pattern (`*`, `?`, `[…]`).

    Raises `InputError` for a pattern that matches nothing, and for more or longer patterns than
    `check_sizes` allows; `field` is the path of the patterns in the request.
    """
    check_sizes(patterns, field)
    return _select(tuple(patterns), tuple(names), field)


def check_sizes(patterns: Sequence[str], field: str = "select") -> None:
    """Raise `InputError` for too many patterns, or too many characters of those with wildcards."""
    if len(patterns) > MAX_PATTERNS:
        detail = f"{field} has more than {MAX_PATTERNS} patterns"
        excess = Excess(MAX_PATTERNS, "entries", len(patterns))
        raise InputError("too-many-patterns", field, detail, excess)
    characters = sum(len(pattern) for pattern in {*patterns} if not WILDCARDS.isdisjoint(pattern))
    if characters > MAX_CHARACTERS:
        detail = (
            f"the different patterns of {field} with *, ? or [ have {characters} characters "
            f"together; at most {MAX_CHARACTERS} are allowed"
        )
        excess = Excess(MAX_CHARACTERS, "characters", characters)
        raise InputError("too-many-patterns", field, detail, excess)


@lru_cache(maxsize=64)  # called several times per trace, mostly with the same patterns
def _select(patterns: tuple[str, ...], names: tuple[str, ...], field: str) -> tuple[str, ...]:
    known, chosen = _indexed(names), 0
    for index, pattern in enumerate(patterns):
        matched = known.matching(pattern)
        if not matched:
            pattern_field = f"{field}[{index}]"
            kind, noun = NOUNS[field]
            raise InputError(kind, pattern_field, f"{pattern_field} names no {noun} of the model")
        chosen |= matched
    return tuple(known.named(chosen))


def present(patterns: Iterable[str], names: Iterable[str]) -> list[str]:
    """Return the patterns that match at least one name."""
    return [*_present(tuple(patterns), tuple(names))]


@lru_cache(maxsize=64)
def _present(patterns: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    known = _indexed(names)
    return tuple(pattern for pattern in patterns if known.matching(pattern))


def matching(pattern: str, names: Iterable[str]) -> list[str]:
    """Return the names that a pattern matches; large or computed tensors must be named explicitly.

    A full name is the most common pattern, and matches only itself.
    """
    known = _indexed(tuple(names))
    return [*known.named(known.matching(pattern))]


class _Names:
    """Names as one text, to match a pattern with all of them at once.

    A whole number has a bit for each character of each name, then one for the name's end, then an
    empty one, which a subtraction borrows from.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._ends: dict[str, int] = {}  # the number of the bit, in the names' order
        texts, starts, size = list[str](), {False: list[str](), True: list[str]()}, 0
        for name in dict.fromkeys(names):
            texts.append(f"{name}{END}{BORROWED}")
            # Only when named in full.
            large = name == EMBEDDING or name.endswith(LOGITS) or name in ATTRIBUTIONS
            for inside, marks in starts.items():
                first = not large and name.startswith(INSIDE) == inside
                marks.append(f"{first:d}".ljust(len(texts[-1]), "0"))
            self._ends[name] = size + len(name)
            size += len(texts[-1])
        self._text = "".join(texts)[::-1]  # as digits are written: the last bit first
        self._starts = {inside: _number("".join(marks)[::-1]) for inside, marks in starts.items()}
        self._alphabet = sorted({*self._text} - {END, BORROWED})
        self._borrowed, ends = self._where(BORROWED), self._where(END)
        self._any = ~(-1 << size) & ~(self._borrowed | ends)
        self._places: dict[str, int] = {}  # of each character that a pattern has named

    def matching(self, pattern: str) -> int:
        """Return a number with a bit at the end of each name that a pattern matches."""
        if pattern in self._ends:
            return 1 << self._ends[pattern]
        if WILDCARDS.isdisjoint(pattern):
            return 0
        reached = self._starts[False]
        if pattern.startswith(INSIDE):
            reached |= self._starts[True]
        for places in self._steps(pattern):
            if places is None:
                # All bits from the lowest one up to the name's end: of x or −x, in each name.
                reached = (reached | (self._borrowed - reached)) & ~self._borrowed
            else:
                reached = (reached & places) << 1
            if not reached:
                return 0
        return reached & ~self._any

    def named(self, ends: int) -> Iterator[str]:
        """Yield the names that end at these bits."""
        digits = f"{ends:b}"[::-1].ljust(len(self._text), "0")
        return (name for name, end in self._ends.items() if digits[end] == "1")

    def _steps(self, pattern: str) -> Iterator[int | None]:
        """Yield the places where a name may go on as a pattern does; None: wherever it likes."""
        index = 0
        while index < len(pattern):
            character = pattern[index]
            index += 1
            if character == "*":
                yield None
            elif character == "?":
                yield self._any
            elif character == "[" and (end := _end_of_set(pattern, index)) >= 0:
                yield self._places_of_set(pattern[index:end])
                index = end + 1
            else:
                yield self._places_of(character)

    def _places_of_set(self, content: str) -> int:
        """Return the places of the characters in a set, such as `a-cx`, or not in it: `!a-cx`."""
        listed = content.removeprefix("!")
        chosen, index = set[str](), 0
        while index < len(listed):
            first, last = listed[index], listed[index]
            if listed[index + 1 : index + 2] == "-" and index + 2 < len(listed):
                last = listed[index + 2]
                index += 2
            index += 1
            low, high = bisect_left(self._alphabet, first), bisect_right(self._alphabet, last)
            chosen.update(self._alphabet[low:high])
        places = 0
        for character in chosen:
            places |= self._places_of(character)
        return places if listed == content else self._any & ~places

    def _places_of(self, character: str) -> int:
        if character not in self._alphabet:
            return 0
        if character not in self._places:
            self._places[character] = self._where(character)
        return self._places[character]

    def _where(self, character: str) -> int:
        return _number(self._text.translate(_Digits({ord(character): "1"})))


class _Digits(dict[int, str]):
    """A digit for each character."""

    def __missing__(self, character: int) -> str:
        return "0"


def _number(digits: str) -> int:
    return int(digits or "0", 2)


def _end_of_set(pattern: str, start: int) -> int:
    """Return where a set ends that began before `start`, or −1: its first may be a bracket."""
    first = start + (pattern[start : start + 1] == "!")
    return pattern.find("]", first + 1)


@lru_cache(maxsize=64)  # of models, and of what their requests record
def _indexed(names: tuple[str, ...]) -> _Names:
    return _Names(names)


class TensorsByPlace:
    """The tensors of an attention by its place, for what has tensors by name.

    `place` is "decoder.0.cross" for example. Indices choose from axes, as `NamedTensor.take` does.
    """

    def __getitem__(self, name: str) -> NamedTensor:
        raise NotImplementedError

    def weights(self, place: str, **indices: int) -> NamedTensor:
        """Return the attention weights of a place: (head, query, key)."""
        return self[f"{place}.weights"].take(**indices)

    def mask(self, place: str, **indices: int) -> NamedTensor:
        """Return which keys each query of a place may attend to: (query, key)."""
        return self[f"{place}.mask"].take(**indices)

    def q(self, place: str, **indices: int) -> NamedTensor:
        """Return the queries of a place: (head, query, channel)."""
        return self[f"{place}.q"].take(**indices)

    def k(self, place: str, **indices: int) -> NamedTensor:
        """Return the keys of a place: (head, key, channel)."""
        return self[f"{place}.k"].take(**indices)

    def v(self, place: str, **indices: int) -> NamedTensor:
        """Return the values of a place: (head, key, channel)."""
        return self[f"{place}.v"].take(**indices)
