"""Converts text to subword ids and back, with each token's offsets in the text as sent.

The subwords are a byte-pair encoding (Sennrich et al. 2016) over both languages. Chinese
characters, digits and punctuation marks are separate tokens, so that an attention map is easy to
read; a character outside the vocabulary becomes its UTF-8 bytes, so any text can be encoded.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tokenizers import Regex, models, normalizers, pre_tokenizers, trainers
from tokenizers import Tokenizer as Backend

from model.errors import FileError
from model.file_reading import reading
from model.text.writing_systems import fold

PAD, BOS, EOS = "<pad>", "<bos>", "<eos>"
TAG = re.compile(r"<2([a-z]{2,3})>")
BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))
BYTE = re.compile(r"<0x([0-9A-F]{2})>")

SPACE = "▁"  # stands for a space inside the vocabulary, and nowhere else
WORD = r"[\p{L}\p{M}&&[^\p{Han}]]+"
CONTRACTION = r"'(?:s|t|re|ve|d|m|ll)(?!\p{L})"
SPACES = normalizers.Sequence(
    [
        normalizers.NFC(),
        normalizers.Replace(Regex(rf"[\s{SPACE}]+"), " "),
        normalizers.Strip(),
    ]
)


@dataclass(frozen=True)
class Token:
    """A subword and its offsets.

    `text` starts with a real space where a word does. `start` and `end` are half-open, in Unicode
    code points of the text as sent; the byte pieces of one character share its span, and the span
    of a special token, or of one that a chat's template adds, is empty.
    """

    text: str
    id: int
    start: int
    end: int
    special: bool
    template: bool = False
    """Whether a chat's template adds it to the text."""
    pair: bool = False
    """Whether it belongs to the second text of a pair, whose code points its offsets count."""


def normalise(text: str) -> str:
    """Return what `decode(encode(text))` returns: folded, NFC, single spaces, stripped."""
    normalised: str = SPACES.normalize_str(fold(text))
    return normalised


class Tokenizer:
    """A joint vocabulary and its rules.

    A typed ``<pad>`` is ordinary text: only code can produce control tokens.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        vocabulary: dict[str, int] = backend.get_vocab()
        tags = {match[1]: text for text in vocabulary if (match := TAG.fullmatch(text))}
        self._ids = {text: vocabulary[text] for text in (PAD, BOS, EOS, *tags.values())}
        self._pieces = {id_: text for text, id_ in vocabulary.items()}
        # In the order of training, which is the order of the columns of the pairs.
        self.languages = tuple(sorted(tags, key=lambda code: vocabulary[tags[code]]))
        self.specials = frozenset(self._ids.values())
        self.pad, self.bos, self.eos = (self._ids[text] for text in (PAD, BOS, EOS))
        self.ends = frozenset((self.eos,))

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        vocabulary: int,
        languages: Iterable[str] = ("en", "zh"),
        alphabet: int = 3000,
    ) -> Tokenizer:
        """Learn at most `vocabulary` subwords, with the `alphabet` most frequent characters.

        Equally frequent characters are ordered by code point, so that the same texts always give
        the same vocabulary.
        """
        backend = _backend(models.BPE(byte_fallback=True))
        folded = [backend.normalizer.normalize_str(fold(text)) for text in texts]
        counts = Counter(character for text in folded for character in text)
        common = sorted(counts, key=lambda character: (-counts[character], character))[:alphabet]
        trainer = trainers.BpeTrainer(
            vocab_size=vocabulary,
            initial_alphabet=common,
            limit_alphabet=len(common),
            min_frequency=2,
            special_tokens=[PAD, BOS, EOS, *(f"<2{code}>" for code in languages), *BYTES],
            show_progress=False,
        )
        backend.train_from_iterator(folded, trainer)
        return cls(_without_added_tokens(backend))

    @classmethod
    def of_words(cls, texts: Iterable[str], languages: Iterable[str]) -> Tokenizer:
        """Create a vocabulary of whole words and marks; all other text becomes bytes."""
        backend = _backend(models.BPE())
        folded = (backend.normalizer.normalize_str(fold(text)) for text in texts)
        split = backend.pre_tokenizer.pre_tokenize_str
        words = dict.fromkeys(word for text in folded for word, _ in split(text))
        pieces = [PAD, BOS, EOS, *(f"<2{code}>" for code in languages), *BYTES, *words]
        vocabulary = {piece: id_ for id_, piece in enumerate(pieces)}
        # Without merges nothing is joined, so a word must be looked up before it is split.
        bpe = models.BPE(vocab=vocabulary, merges=[], byte_fallback=True, ignore_merges=True)
        return cls(_backend(bpe))

    @classmethod
    def load(cls, path: Path) -> Tokenizer:
        """Read a file written by `save`. Raises `FileError` for any other."""
        with reading(path):
            backend = Backend.from_file(str(path))
            backend.no_padding()
            backend.no_truncation()
            vocabulary = backend.get_vocab()
            if missing := {PAD, BOS, EOS} - vocabulary.keys():
                raise FileError(path, f"it has no {' and no '.join(sorted(missing))}")
            if sorted(vocabulary.values()) != [*range(len(vocabulary))]:
                raise FileError(path, "its ids are not the numbers from 0 on")
            return cls(backend)

    def save(self, path: Path) -> None:
        """Write the vocabulary and its rules as JSON."""
        self._backend.save(str(path))

    def __len__(self) -> int:
        size: int = self._backend.get_vocab_size()
        return size

    def tag(self, language: str) -> Token:
        """Return the first token of a source: translate into `language` (Johnson et al. 2017)."""
        return self.control(f"<2{language}>")

    def control(self, text: str) -> Token:
        """Return a control token: `PAD`, `BOS`, `EOS` or a tag."""
        return Token(text, self._ids[text], 0, 0, special=True)

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the bare ids of many texts at once, for training."""
        encodings = self._backend.encode_batch_fast([fold(text) for text in texts])
        return [encoding.ids for encoding in encodings]

    def encode(self, text: str) -> list[Token]:
        """Return the tokens of `text`, without control tokens."""
        encoding = self._backend.encode(fold(text))
        pieces = zip(encoding.tokens, encoding.ids, encoding.offsets, strict=True)
        starts = {start for start, _ in encoding.offsets}
        tokens = [
            Token(_shown(piece, first=index == 0), id_, start, _closed(text, end, starts), False)
            for index, (piece, id_, (start, end)) in enumerate(pieces)
        ]
        if encoding.tokens[:1] == [SPACE]:
            # The leading space was not in the text, so its span is empty.
            tokens[0] = replace(tokens[0], end=tokens[0].start)
        return tokens

    def written(self, ids: Sequence[int]) -> tuple[str, tuple[Token, ...]]:
        """Return the text of some ids, and each id as a token with its span of that text.

        Control tokens have no text; bytes that do not form a character are left out.
        """
        pieces = [self._pieces[id_] for id_ in ids]
        spelled = [self._spelled(id_, piece) for id_, piece in zip(ids, pieces, strict=True)]
        first = next((index for index, data in enumerate(spelled) if data), None)
        if first is not None:
            spelled[first] = spelled[first].removeprefix(b" ")
        data = b"".join(spelled)
        tokens, begin = [], 0
        for index, (id_, piece) in enumerate(zip(ids, pieces, strict=True)):
            special, end = id_ in self.specials, begin + len(spelled[index])
            visible = piece if special else _shown(piece, first=index == first)
            start, stop = (0, 0) if special else _span(data, begin, end)
            tokens.append(Token(visible, id_, start, stop, special))
            begin = end
        return _text(data), tuple(tokens)

    def token(self, id_: int, *, first: bool = False) -> Token:
        """Return an id as a token without offsets; the `first` of a text has no leading space."""
        piece, special = self._pieces[id_], id_ in self.specials
        return Token(piece if special else _shown(piece, first), id_, 0, 0, special)

    def _spelled(self, id_: int, piece: str) -> bytes:
        if id_ in self.specials:
            return b""
        if byte := BYTE.fullmatch(piece):
            return bytes([int(byte[1], 16)])
        return piece.replace(SPACE, " ").encode()


def _shown(piece: str, first: bool) -> str:
    visible = piece.replace(SPACE, " ")
    # The first word of a text has a leading space like every other word, although none was typed.
    return visible.removeprefix(" ") or visible if first else visible


def _closed(text: str, end: int, starts: set[int]) -> int:
    # A composed character's span includes the combining marks it was composed from, unless
    # they are separate tokens.
    while end < len(text) and end not in starts and unicodedata.combining(text[end]):
        end += 1
    return end


def _text(data: bytes) -> str:
    return data.decode("utf-8", "ignore")


def _span(data: bytes, begin: int, end: int) -> tuple[int, int]:
    start = len(_text(data[:begin]))  # incomplete characters are not counted
    while end < len(data) and data[end] & 0xC0 == 0x80:
        end += 1
    return start, len(_text(data[:end]))


def _backend(bpe: models.BPE) -> Backend:
    backend = Backend(bpe)
    backend.normalizer = normalizers.Sequence(
        [
            SPACES,
            normalizers.Replace(" ", SPACE),
            # A word at the start of a text gets the same leading space as elsewhere, so that it is
            # the same subword; Chinese and punctuation have none.
            normalizers.Prepend(SPACE),
            normalizers.Replace(Regex(rf"^{SPACE}(?!{WORD})"), ""),
        ]
    )
    backend.pre_tokenizer = pre_tokenizers.Split(
        Regex(rf"{SPACE}?(?:\p{{Han}}|{CONTRACTION}|{WORD}|(?m:.))"), "isolated"
    )
    return backend


def _without_added_tokens(backend: Backend) -> Backend:
    # Tokens added as special by the trainer would also be matched in typed text.
    model = json.loads(backend.to_str())["model"]
    merges = [tuple(merge) for merge in model["merges"]]
    return _backend(models.BPE(vocab=model["vocab"], merges=merges, byte_fallback=True))


LONGEST_WORD = 64  # code points: a word is not longer


def fits(text: str, limit: int, encode: Callable[[str], Sequence[Token]]) -> int:
    """Return how many code points of a text make at most `limit` tokens, to the end of a word.

    `encode` returns all tokens of a text, with the special ones around it. In a script without
    spaces the text is cut between two tokens.
    """
    tokens = encode(text)
    room = limit
    while len(tokens) > limit:
        around = sum(token.start == token.end for token in tokens[room:])  # such as <eos>
        room = max(0, min(room, limit - around))
        end = max((token.end for token in tokens[:room]), default=0)
        text = text[: _word_end(text, end)].rstrip()
        if not text:
            return 0
        tokens = encode(text)
        room -= 1  # the last word can take more tokens by itself than before another one
    return len(text)


def _word_end(text: str, end: int) -> int:
    """Return the last end of a word up to here, or `end` itself if there is none nearby."""
    if text[end : end + 1].isspace() or end == len(text):
        return end
    start = max(0, end - LONGEST_WORD)
    spaces = [
        start + index for index, character in enumerate(text[start:end]) if character.isspace()
    ]
    return spaces[-1] if spaces else end
