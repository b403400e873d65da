"""Converts text to a tokenizer's ids and back, with each token's offsets in the text as sent.

Tokens show the text that they stand for, with a space where a word begins: no `Ġ`, `▁` or `##`. The
byte pieces of one character share its span and are shown as `<0xE7>`, as in this project's own
tokenizer.

Two texts can be read as a pair, as the tokenizer's own template joins them, with its token types.
Control strings that are typed into a text are text, except a mask.

A text can also be written as a user's turn of a chat, with the tokenizer's chat template: a Jinja
program in the model's folder. `transformers` runs it in a sandbox, which gives it no access to
files or to Python's objects (`ImmutableSandboxedEnvironment`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import torch
from torch import Tensor

from model.adapters.huggingface.control_strings_as_text import reads_controls_as_text
from model.errors import InputError
from model.text.tokens import PAD, Token

MARK = "\ue000\ue001\ue000"  # private characters, to find the turn's place
LONGEST = 20_000  # characters that a template may add


@dataclass(frozen=True)
class Turn:
    """A text within what a template makes of it: `before` + text + `after`."""

    before: str
    text: str
    after: str
    start: int
    """Index of `text` in the text as sent: a template may strip it."""

    @property
    def whole(self) -> str:
        """What the model reads."""
        return self.before + self.text + self.after


class Chat:
    """A tokenizer's chat template."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer

    @cached_property
    def missing(self) -> str:
        """Why there is no usable template, as a reason of `ModelInfo`; empty if there is one."""
        if not self.tokenizer.chat_template:
            return "no-template"
        try:
            self.turn("Hello")
        except InputError:
            return "bad-template"
        return ""

    def turn(self, text: str) -> Turn:
        """Return a text as the user's turn, which the assistant is to answer.

        Raises `InputError` if the template fails, or does not contain the text as it is.
        """
        before, mark, after = self._render(MARK).partition(MARK)
        whole = self._render(text)
        end = len(whole) - len(after)
        inner = whole[len(before) : end]
        fits = mark and whole.startswith(before) and whole.endswith(after) and inner in text
        if not fits or MARK in after or end < len(before):
            detail = "chat: the model's chat template does not contain the text as it is"
            raise InputError("chat-template", "chat", detail)
        return Turn(before, inner, after, text.index(inner))

    def _render(self, text: str) -> str:
        try:
            rendered: str = self.tokenizer.apply_chat_template(
                [{"role": "user", "content": text}], tokenize=False, add_generation_prompt=True
            )
        except Exception as error:  # whatever a template raises
            detail = f"chat: the model's chat template failed: {type(error).__name__}"
            raise InputError("chat-template", "chat", detail) from error
        if len(rendered) > len(text) + LONGEST:
            detail = f"chat: the model's chat template adds more than {LONGEST} characters"
            raise InputError("chat-template", "chat", detail)
        return rendered


REPLACEMENT = "\ufffd"  # stands for bytes that are not a character
BYTE = re.compile(r"<0x([0-9A-F]{2})>")
MARKS = "Ġ▁ "  # start of a piece that begins with a space
CACHED = 64  # recently tokenized texts that are cached


class TextTokenizer:
    """The tokenizer of a model with `vocabulary` rows of output.

    What a model writes that `continues` a text keeps the space that it begins with. It stops at
    any of `ends`; if they are absent, at the tokenizer's end of a text. It reads ids below `rows`
    (None: any).
    """

    def __init__(
        self,
        tokenizer: Any,
        vocabulary: int,
        continues: bool = False,
        ends: Collection[int] | None = None,
        rows: int | None = None,
    ) -> None:
        self.tokenizer = tokenizer
        self.rows = rows
        self.continues = continues
        self.vocabulary = vocabulary
        # A typed control string stays text, except a mask, which the model fills in.
        self.split = tokenizer.mask_token is None
        self.specials = frozenset(tokenizer.all_special_ids)
        self.controls = self.specials - {tokenizer.mask_token_id}
        eos = () if tokenizer.eos_token_id is None else (tokenizer.eos_token_id,)
        self.ends = frozenset(eos if ends is None else ends)
        described = tokenizer.backend_tokenizer
        self.byte_level = "ByteLevel" in f"{described.pre_tokenizer}{described.decoder}"
        self.wordpiece = type(described.model).__name__ == "WordPiece"
        self.chat = Chat(tokenizer)
        self.encode = lru_cache(CACHED)(self._encode)
        self.encode_chat = lru_cache(CACHED)(self._encode_chat)
        self.encode_pair = lru_cache(CACHED)(self._encode_pair)
        self._decoded = lru_cache(1 << 12)(self._decode)

    @property
    def pad(self) -> int:
        """The id of padding; any id if the tokenizer has none, since padding is masked."""
        pad = self.tokenizer.pad_token_id
        return 0 if pad is None else int(pad)

    @cached_property
    def never(self) -> Tensor:
        """Ids that are never written: specials, and rows of the output without a token."""
        specials = self.specials - self.ends
        beyond = range(len(self.tokenizer), self.vocabulary)
        never = sorted({*beyond, *(id_ for id_ in specials if id_ < self.vocabulary)})
        return torch.tensor(never, dtype=torch.int64)  # also when there are none

    def _encode(self, text: str) -> tuple[Token, ...]:
        """Return a text's tokens, with the special ones that the model expects around them."""
        return tuple(self._placed(text, *piece) for piece in self._pieces(text, split=self.split))

    def _encode_pair(self, text: str, pair: str) -> tuple[tuple[Token, ...], tuple[int, ...]]:
        """Return the tokens of two texts, with the special ones around them, and their types.

        From the first token of the second text on, all are the second text's.
        """
        encoding = self._read(text, pair, split=self.split)
        owners = encoding.sequence_ids
        begin = owners.index(1) if 1 in owners else len(owners)
        pieces = self.tokenizer.convert_ids_to_tokens(encoding.ids)
        columns = zip(encoding.ids, pieces, encoding.offsets, strict=True)
        tokens = tuple(
            replace(
                self._placed(pair if index >= begin else text, id_, piece, *span),
                pair=index >= begin,
            )
            for index, (id_, piece, span) in enumerate(columns)
        )
        return tokens, tuple(encoding.type_ids)

    @property
    def types(self) -> bool:
        """Whether the tokenizer gives token types to its model."""
        return "token_type_ids" in self.tokenizer.model_input_names

    def types_of(self, text: str, pair: str | None) -> tuple[int, ...]:
        """Return the token types of one text or two; none if all of a text's are 0."""
        if not self.types or (pair is None and not self._types_alone):
            return ()
        if pair is not None:
            return self.encode_pair(text, pair)[1]
        return tuple(self._read(text, split=self.split).type_ids)

    @cached_property
    def _types_alone(self) -> bool:
        """Whether a single text has types other than 0, as one of XLNet has."""
        return any(self._read("a", split=self.split).type_ids)

    def pair_missing(self, model_types: int | None) -> str:
        """Return why it does not join two texts for a model, as a reason of `ModelInfo`.

        `model_types` is the number of token types that the model has; None: it takes none.
        """
        tokens, types = self.encode_pair("a", "a")
        begin = next((index for index, token in enumerate(tokens) if token.pair), 0)
        typed = model_types is not None and self.types
        if typed and max(types) >= (model_types or 0) > 0:
            return "too-few-types"
        separated = begin > 0 and tokens[begin - 1].special
        told_apart = typed and model_types and types[begin] != types[begin - 1]
        return "" if separated or told_apart else "no-pair-template"

    def _encode_chat(self, text: str) -> tuple[Token, ...]:
        """Return the tokens of a text as the user's turn of a chat; raises `InputError`.

        The others are marked as the template's, and have no span. A control string in the text
        stays text.
        """
        turn = self.chat.turn(text)
        turn_span = range(len(turn.before), len(turn.before) + len(turn.text))
        pieces = self._pieces(turn.whole, split=False, add=False, typed=False)
        if any(id_ in self.specials and start in turn_span for id_, _, start, _ in pieces):
            parts = ((turn.before, False), (turn.text, True), (turn.after, False))
            pieces, offset = [], 0
            for part, typed in parts:
                for id_, piece, start, end in self._pieces(
                    part, split=typed, add=False, typed=typed
                ):
                    pieces.append((id_, piece, start + offset, end + offset))
                offset += len(part)
        tokens = [self._placed(turn.whole, *piece) for piece in pieces]
        shift = turn.start - turn_span.start
        return tuple(
            replace(token, start=token.start + shift, end=token.end + shift)
            if token.start in turn_span and token.end <= turn_span.stop
            else replace(token, start=0, end=0, template=True)
            for token in tokens
        )

    def _pieces(
        self, text: str, *, split: bool, add: bool = True, typed: bool = True
    ) -> list[tuple[int, str, int, int]]:
        """Return the id, the piece and the span of each token."""
        encoding = self._read(text, split=split, add=add, typed=typed)
        pieces = self.tokenizer.convert_ids_to_tokens(encoding.ids)
        return [
            (id_, piece, *span)
            for id_, piece, span in zip(encoding.ids, pieces, encoding.offsets, strict=True)
        ]

    def _read(
        self,
        text: str,
        pair: str | None = None,
        *,
        split: bool,
        add: bool = True,
        typed: bool = True,
    ) -> Any:
        """Return the tokenizer's own encoding of a text or a pair.

        In one that is `typed`, control strings are text.
        """

        def encoded(tokenizer: Any, split: bool) -> Any:
            return tokenizer(
                text,
                pair,
                split_special_tokens=split,
                add_special_tokens=add,
                verbose=False,
            ).encodings[0]

        encoding = encoded(self.tokenizer, split)
        if typed and self._has_controls(encoding, (text, pair or "")):
            encoding = encoded(self._careful, True)
        if self.rows is not None and max(encoding.ids, default=0) >= self.rows:
            raise InputError(
                "unknown-token",
                "text",
                f"text: its tokenizer gives it the id {max(encoding.ids)}, and the model knows "
                f"{self.rows} tokens: this is the tokenizer of another model, or the model's "
                "embeddings were not resized",
            )
        return encoding

    def _has_controls(self, encoding: Any, texts: tuple[str, str]) -> bool:
        """Return whether a text itself contains control tokens; an unknown word is none."""
        unknown = self.tokenizer.unk_token_id
        return any(
            id_ in self.controls
            and owner is not None
            and (id_ != unknown or texts[owner][start:end] == self.tokenizer.unk_token)
            for id_, owner, (start, end) in zip(
                encoding.ids, encoding.sequence_ids, encoding.offsets, strict=True
            )
        )

    @cached_property
    def _careful(self) -> Any:
        """A copy of the tokenizer, for texts with control strings."""
        return reads_controls_as_text(self.tokenizer)

    def _placed(self, text: str, id_: int, piece: str, start: int, end: int) -> Token:
        """Return a token with its span, which never includes the space before it."""
        covered = text[start:end]
        if id_ in self.specials and covered in ("", piece):
            return replace(self.token(id_), start=start, end=end)
        if as_bytes := self._as_bytes(piece):
            return _spanning(text, id_, start, end, self._begins(piece), as_bytes)
        if not piece.strip(MARKS):  # a space by itself, which the tokenizer may have added
            return Token(" ", id_, start, end if covered.isspace() else start, False)
        return _spanning(text, id_, start, end, self._begins(piece))

    def written(self, ids: Sequence[int]) -> tuple[str, tuple[Token, ...]]:
        """Return the text of some ids, and each id as a token with its span of that text."""
        raw = self._decoded(tuple(ids))
        pieces = self.tokenizer.convert_ids_to_tokens(list(ids))
        text = raw.lstrip(" ")
        if self.continues:
            spaced = pieces and self._begins(pieces[0]) and not raw[:1].isspace()
            text = " " + raw if spaced and raw else raw
        lead = len(raw) - len(text)
        tokens, begin, open_ = list[Token](), 0, list[int]()
        for index, (id_, piece) in enumerate(zip(ids, pieces, strict=True)):
            end = max(begin, self._until(raw, ids[: index + 1]) - lead)
            if id_ in self.specials:
                tokens.append(self.token(id_))
                continue
            as_bytes = self._as_bytes(piece)
            tokens.append(_spanning(text, id_, begin, end, self._begins(piece), as_bytes))
            if as_bytes and not text[begin:end].strip():  # at most the space before a character
                open_.append(index)
            elif end > begin:  # the last piece of a character completes it
                for earlier in open_:
                    first, bytes_ = self._begins(pieces[earlier]), self._as_bytes(pieces[earlier])
                    tokens[earlier] = _spanning(text, ids[earlier], begin, end, first, bytes_)
                open_ = []
            begin = end
        return text, tuple(tokens)

    def token(self, id_: int, *, first: bool = False) -> Token:
        """Return an id as a token without offsets; the `first` of a text has no leading space."""
        if id_ >= len(self.tokenizer):
            return Token(f"<{id_}>", id_, 0, 0, True)
        piece = self.tokenizer.convert_ids_to_tokens(id_)
        if id_ in self.specials:
            # Many decoders pad with the token that ends a text, which also occurs in a chat.
            ending = {self.tokenizer.eos_token_id, self.tokenizer.bos_token_id, *self.ends}
            padding = id_ == self.tokenizer.pad_token_id and id_ not in ending
            return Token(PAD if padding else piece, id_, 0, 0, True)
        if not piece.strip(MARKS):
            return Token(" ", id_, 0, 0, False)
        spelled = self._as_bytes(piece) or self._decoded((id_,)).removeprefix("##")
        word = spelled.strip() or spelled or piece
        spaced = self._begins(piece) and (self.continues or not first) and word.strip()
        return Token(" " + word if spaced else word, id_, 0, 0, False)

    def _begins(self, piece: str) -> bool:
        """Return whether a word begins with a piece."""
        return not piece.startswith("##") if self.wordpiece else piece[:1] in MARKS

    def _as_bytes(self, piece: str) -> str:
        """Return a piece as bytes if it is not whole characters; "" for any other piece."""
        if BYTE.fullmatch(piece):
            return piece
        if not self.byte_level:
            return ""
        table = byte_characters()
        raw = bytes(table[character] for character in piece if character in table)
        try:
            raw.decode()
        except UnicodeDecodeError:
            return "".join(f"<0x{byte:02X}>" for byte in raw.removeprefix(b" "))
        return ""

    def _until(self, text: str, ids: Sequence[int]) -> int:
        """Return the length of the text that ids spell, up to the last complete character."""
        prefix = self._decoded(tuple(ids)).rstrip(REPLACEMENT)
        if text.startswith(prefix):
            return len(prefix)
        pairs = enumerate(zip(prefix, text, strict=False))
        differing = (index for index, (first, second) in pairs if first != second)
        return next(differing, min(len(prefix), len(text)))

    def _decode(self, ids: tuple[int, ...]) -> str:
        text: str = self.tokenizer.decode(
            list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return text


def _spanning(text: str, id_: int, start: int, end: int, begins: bool, spelled: str = "") -> Token:
    """Return the token that covers a span, without the space before it.

    It is shown as what it covers, or as `spelled`, with a space where a word begins.
    """
    covered = text[start:end]
    inner = covered.strip()
    if inner:
        start += covered.index(inner)
        end = start + len(inner)
    spaced = begins and inner and start > 0 and text[start - 1].isspace()
    spelled = spelled or inner
    return Token(" " + spelled if spaced else spelled or covered, id_, start, end, False)


@lru_cache(1)
def byte_characters() -> dict[str, int]:
    """Return the byte of each character of a byte-level vocabulary.

    Printable characters stand for themselves, the others are the characters from 256 on. Source:
    Radford et al. 2019 (GPT-2), `bytes_to_unicode`.
    """
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    unprintable = [byte for byte in range(256) if byte not in plain]
    printable = {chr(byte): byte for byte in plain}
    return printable | {chr(256 + index): byte for index, byte in enumerate(unprintable)}
