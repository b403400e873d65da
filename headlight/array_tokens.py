"""Tokens of given arrays, as people have them: strings, ids, patches of a picture.

Strings of a tokenizer's vocabulary have marks for spaces, and the characters of a byte-level one
stand for bytes. Which scheme a list follows is recognised from the whole list; it can be named as
well, and the figure notice it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from headlight.figure_notices import Notice, t
from model.adapters.huggingface.tokenizer import TextTokenizer, byte_characters
from model.text.tokens import BYTE, Token

Scheme = Literal[
    "wordpiece", "sentencepiece", "byte-level", "word-ends", "continued", "spaced", "bytes", "words"
]
SCHEMES: tuple[str, ...] = get_args(Scheme)
SCHEME_NOTICES = {
    "wordpiece": t("Tokens were read as WordPiece: ## continues a word."),
    "sentencepiece": t("Tokens were read as SentencePiece: ▁ begins a word."),
    "byte-level": t("Tokens were read as byte-level pieces: Ġ is a space, and bytes are decoded."),
    "word-ends": t("Tokens were read as pieces with </w> at the end of a word."),
    "continued": t("Tokens were read as pieces with @@ where a word continues."),
    "spaced": t("Tokens were read as text: each begins with its own space."),
    "bytes": t("Tokens were read as UTF-8 bytes."),
    "words": t("Tokens were read as plain words, with a space between them."),
}
# Special tokens of known schemes; other text in brackets, such as <div> or [A], is text.
SPECIAL = re.compile(
    r"\[(?:CLS|SEP|PAD|MASK|UNK|BOS|EOS|DIST|/?INST|gMASK|sMASK)\]"
    r"|</?(?:s|pad|unk|mask|bos|eos|cls|sep|eod|eop|sop)>"
    r"|<(?:start|end)_of_(?:turn|image|text)>|<extra_id_\d+>|<2[a-z]{2,3}>"
    r"|<\|[^\s|<>]{1,40}\|>|<｜[^\s｜<>]{1,40}｜>|<REG\d+>"
)
HAN = re.compile(r"[\u2e80-\u2fdf\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
SPACE_BYTE, NEWLINE_BYTE = "Ġ", "Ċ"
JOINERS = ("\u200c", "\u200d")
JOINED = re.compile("[\u200c\u200d\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")
REGION = re.compile("[\U0001f1e6-\U0001f1ff]")
REGIONS = re.compile("[\U0001f1e6-\U0001f1ff]*\\Z")


@dataclass(frozen=True)
class ReadTokens:
    """Tokens with their spans in `text`, and a notice of how they were read."""

    tokens: tuple[Token, ...]
    text: str
    notice: Notice | None = None

    def without_last(self) -> tuple[ReadTokens, Token]:
        """Return the same without the last token, and that token."""
        *tokens, last = self.tokens
        end = max((token.end for token in tokens), default=0)
        return replace(self, tokens=tuple(tokens), text=self.text[:end]), last


@dataclass(frozen=True)
class Grid:
    """The tokens of a picture cut into patches, row by row: `Grid(14, 14)`.

    A patch is called by its row and column from 1. Tokens that the array has besides come before
    the patches ([CLS], then [DIST] of one more, or registers of several), or are named: `before`.
    """

    rows: int
    columns: int
    before: Sequence[str] | None = None

    def read(self, count: int) -> ReadTokens:
        """Return the `count` tokens of an axis. Raises `ValueError` if there are too few."""
        patches = self.rows * self.columns
        extra = count - patches
        names = list(_extra_names(extra) if self.before is None else self.before)
        if extra < 0 or len(names) != extra:
            raise ValueError(
                f"tokens: Grid({self.rows}, {self.columns}) has {patches} patches and "
                f"{len(names)} tokens before them; the array has {count} tokens"
            )
        labels = [
            f"{row + 1},{column + 1}" for row in range(self.rows) for column in range(self.columns)
        ]
        tokens = [
            Token(label, index, 0, 0, index < extra) for index, label in enumerate(names + labels)
        ]
        notice = t(
            "Tokens are {rows} × {columns} patches, called by row and column.",
            rows=self.rows,
            columns=self.columns,
        )
        return ReadTokens(tuple(tokens), f"{self.rows} × {self.columns}", notice)


def _extra_names(count: int) -> list[str]:
    if count == 2:
        return ["[CLS]", "[DIST]"]  # DeiT
    return ["[CLS]", *(f"<REG{n}>" for n in range(1, count))][: max(0, count)]


def read_tokens(
    name: str, value: Any, tokenizer: Any = None, scheme: str | None = None
) -> ReadTokens:
    """Return the tokens in strings or ids; `name` is what an error calls them.

    Raises `TypeError` for what is no list of tokens, and `ValueError` for ids without a tokenizer,
    a batch of several texts and an unknown scheme.
    """
    if scheme is not None and scheme not in SCHEMES:
        raise ValueError(f"scheme: {scheme!r} is unknown; known are {', '.join(SCHEMES)}")
    entries = _entries(name, value)
    strings = [entry for entry in entries if isinstance(entry, str | bytes)]
    if entries and len(strings) == len(entries):
        return _read_strings(strings, tokenizer, scheme)
    ids = [entry for entry in entries if isinstance(entry, int | np.integer)]
    if not entries or len(ids) != len(entries) or any(isinstance(id_, bool) for id_ in ids):
        other = next((entry for entry in entries if not isinstance(entry, str)), None)
        raise TypeError(
            f"{name} must be strings, not {type(other).__name__}"
            if entries
            else f"{name} is empty; it must be the list of the tokens that the model read"
        )
    if tokenizer is None:
        raise TypeError(
            f"{name} are ids ({ids[0]}, …); pass tokenizer=… beside them, or their strings: "
            "tokenizer.convert_ids_to_tokens(ids)"
        )
    return _read_ids(name, [int(id_) for id_ in ids], tokenizer)


def _entries(name: str, value: Any) -> list[Any]:
    """Return the entries of one text, out of a batch of one."""
    if value is None:
        raise TypeError(
            f"{name} are missing: pass the list of tokens that the model read, or Grid(rows, "
            "columns) for the patches of a picture"
        )
    if isinstance(getattr(value, "tokens", None), list):  # an Encoding of the library tokenizers
        value = value.tokens
    if isinstance(value, Mapping) or hasattr(value, "input_ids"):
        value = value["input_ids"] if isinstance(value, Mapping) else value.input_ids
    if isinstance(value, str | bytes):
        raise TypeError(f"{name} must be the list of their tokens, not a sentence")
    if hasattr(value, "tolist"):
        value = value.tolist()
    try:
        entries = list(value)
    except TypeError:
        raise TypeError(f"{name} must be a list of strings, not {type(value).__name__}") from None
    entries = [entry.tolist() if hasattr(entry, "tolist") else entry for entry in entries]
    if entries and all(isinstance(entry, list | tuple) for entry in entries):
        if len(entries) != 1:
            raise ValueError(f"{name} are a batch of {len(entries)} texts; choose one: tokens[0]")
        entries = list(entries[0])
    return entries


def _read_ids(name: str, ids: Sequence[int], tokenizer: Any) -> ReadTokens:
    if not hasattr(tokenizer, "convert_ids_to_tokens"):
        raise TypeError(
            f"tokenizer is {type(tokenizer).__name__}, and needed is one of transformers. Without "
            f"one, pass the strings or bytes of the {name}"
        )
    size = len(tokenizer)
    if outside := [id_ for id_ in ids if not 0 <= id_ < size]:
        raise ValueError(f"{name}: id {outside[0]} is outside the tokenizer's {size} tokens")
    notice = t("Tokens were read with {tokenizer}.", tokenizer=type(tokenizer).__name__)
    if hasattr(tokenizer, "backend_tokenizer"):
        text, tokens = TextTokenizer(tokenizer, size).written(ids)
        return ReadTokens(tokens, text, notice)
    strings = tokenizer.convert_ids_to_tokens(list(ids))
    read = _read_strings(strings, tokenizer, None)
    return ReadTokens(read.tokens, read.text, notice)


def _read_strings(strings: Sequence[str | bytes], tokenizer: Any, scheme: str | None) -> ReadTokens:
    named = frozenset(getattr(tokenizer, "all_special_tokens", ()))
    if scheme is None and hasattr(tokenizer, "backend_tokenizer"):
        vocabulary = tokenizer.get_vocab()
        if all(string in vocabulary for string in strings):
            return _read_ids("tokens", [vocabulary[string] for string in strings], tokenizer)

    def is_special(string: str | bytes) -> bool:
        if isinstance(string, bytes):
            return False
        return string in named if named else bool(SPECIAL.fullmatch(string))

    texts = [string for string in strings if not is_special(string)]
    kind = scheme or recognised_scheme(texts)
    spelled = _spelled(strings, is_special, kind)
    tokens, text = _placed(strings, spelled)
    return ReadTokens(tokens, text, SCHEME_NOTICES[kind])


def recognised_scheme(strings: Sequence[str | bytes]) -> str:
    """Return the scheme of a list without its special tokens: the one with the most marks."""
    if any(isinstance(string, bytes) for string in strings):
        return "bytes"
    words = [string for string in strings if isinstance(string, str)]
    marks: dict[str, Callable[[str], bool]] = {
        "wordpiece": lambda word: word.startswith("##") and len(word) > 2,
        "sentencepiece": lambda word: word.startswith("▁"),
        "byte-level": lambda word: word.startswith((SPACE_BYTE, NEWLINE_BYTE)),
        "word-ends": lambda word: word.endswith("</w>"),
        "continued": lambda word: word.endswith("@@") and len(word) > 2,
        "spaced": lambda word: word[:1] == " " and bool(word.strip()),
    }
    counts = {scheme: sum(map(has_mark, words)) for scheme, has_mark in marks.items()}
    best = max(counts, key=lambda scheme: counts[scheme])
    if counts[best]:
        return best
    return "byte-level" if _spells_bytes(words) else "words"


def _spells_bytes(words: Sequence[str]) -> bool:
    """Return whether words without marks are bytes: "ä½ł" is no word, but 你 in bytes."""
    joined = "".join(words)
    table = byte_characters()
    if joined.isascii() or not all(character in table for character in joined):
        return False
    try:
        text = bytes(table[character] for character in joined).decode()
    except UnicodeDecodeError:
        return False
    return not CONTROL.search(text)


def _spelled(
    strings: Sequence[str | bytes], is_special: Callable[[str | bytes], bool], scheme: str
) -> list[bytes | None]:
    """Return the bytes that each token stands for, with the space that it begins with.

    None of special tokens.
    """
    spelled: list[bytes | None] = []
    before = ""  # the token before with those that it joins, if it is of the text
    for string in strings:
        if is_special(string):
            spelled.append(None)
            continue
        if isinstance(string, bytes):
            spelled.append(string)
            continue
        spelled.append(_bytes_of(string, before, scheme, first=not any(spelled)))
        before = before + string if scheme == "words" and joins(before, string) else string
    return spelled


def _bytes_of(string: str, before: str, scheme: str, *, first: bool) -> bytes:
    if scheme == "byte-level":
        table = byte_characters()
        parts = [bytes([table[c]]) if c in table else c.encode() for c in string]
        return b"".join(parts)
    if scheme == "sentencepiece":
        if byte := BYTE.fullmatch(string):
            return bytes([int(byte[1], 16)])
        return string.replace("▁", " ").encode()
    if scheme == "wordpiece":
        return (string[2:] if string.startswith("##") else f" {string}").encode()
    if scheme == "word-ends":
        spaced = " " * before.endswith("</w>")
        return (spaced + string.removesuffix("</w>")).encode()
    if scheme == "continued":
        spaced = " " * bool(before and not before.endswith("@@"))
        return (spaced + string.removesuffix("@@")).encode()
    if scheme == "words":
        han = HAN.match(string) and HAN.fullmatch(before[-1:])
        spaced = "" if first or han or joins(before, string) or not string.strip() else " "
        return (spaced + string).encode()
    return string.encode()


def joins(before: str, string: str) -> bool:
    """Return whether a piece is drawn as one character with the end of the piece before it.

    Emoji are joined by U+200D, and changed by skin tones, variants and tags; two letters of regions
    are a flag; a combining mark belongs to a letter.
    """
    mark = string and unicodedata.category(string[0]).startswith("M")
    regions = len(before) - len(REGIONS.sub("", before))
    flag = REGION.match(string) and regions % 2
    return bool(mark or flag or JOINED.match(string) or before.endswith(JOINERS))


def _placed(
    strings: Sequence[str | bytes], spelled: Sequence[bytes | None]
) -> tuple[tuple[Token, ...], str]:
    """Return the tokens with their spans in the text, and the text."""
    data = b"".join(piece or b"" for piece in spelled)
    text = data.decode(errors="ignore")
    lead = len(text) - len(text.lstrip())
    text = text.strip()
    tokens: list[Token] = []
    begin = 0
    for index, (string, piece) in enumerate(zip(strings, spelled, strict=True)):
        if piece is None:
            place = _characters(data[:begin]) - lead
            place = min(max(place, 0), len(text))
            tokens.append(Token(str(string), index, place, place, True))
            continue
        end = begin + len(piece)
        tokens.append(_token(index, piece, data, begin, end, lead, text))
        begin = end
    return tuple(tokens), text


def _token(
    index: int, piece: bytes, data: bytes, start: int, end: int, lead: int, text: str
) -> Token:
    try:
        visible = piece.decode()
    except UnicodeDecodeError:
        # A part of a character is shown as its bytes, and has the span of the character.
        inner = piece.removeprefix(b" ")
        visible = " " * (len(inner) < len(piece)) + "".join(f"<0x{byte:02X}>" for byte in inner)
    while end < len(data) and data[end] & 0xC0 == 0x80:
        end += 1
    first, last = (_characters(data[:place]) - lead for place in (start, end))
    covered = text[max(0, first) : max(0, last)]
    inner_text = covered.strip()
    if inner_text:
        first = max(0, first) + covered.index(inner_text)
        last = first + len(inner_text)
    first, last = (min(max(0, place), len(text)) for place in (first, last))
    return Token(visible, index, first, last, False)


def _characters(data: bytes) -> int:
    """Return how many complete characters there are."""
    return len(data.decode(errors="ignore"))
