"""Small tokenizers of the `transformers` library, the same in every process.

Only the bytes are learned: the trainers of the other two kinds break ties by chance.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import transformers as hf
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from tests.model.conftest import TEXTS

SPECIALS = {
    "wordpiece": ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    "bytes": ("<pad>", "<s>", "</s>", "<unk>"),
    "unigram": ("<pad>", "</s>", "<unk>"),
}


def _wordpiece() -> Tokenizer:
    """Short words are pieces, other words are spelled in letters."""
    words = {word for text in TEXTS for word in re.findall(r"\w+|\W", text.lower())}
    letters = {letter for word in words for letter in word}
    short = {word for word in words if len(word) < 4 and word.isascii()}
    pieces = sorted({*letters, *(f"##{letter}" for letter in letters), *short} - {" "})
    vocabulary = {piece: place for place, piece in enumerate([*SPECIALS["wordpiece"], *pieces])}
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(one, made.token_to_id(one)) for one in ("[CLS]", "[SEP]")],
    )
    return made


def _bytes() -> Tokenizer:
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=[*SPECIALS["bytes"]],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(TEXTS[:3], trainer)
    return made


def _unigram() -> Tokenizer:
    """Every letter and every short word is a piece."""
    letters = sorted({letter for text in TEXTS for letter in text} - {" "})
    words = sorted({word for text in TEXTS for word in re.findall(r"\b[a-z]{2,3}\b", text)})
    scored = [(special, 0.0) for special in SPECIALS["unigram"]]
    scored += [(letter, -4.0) for letter in ["▁", *letters]]
    scored += [(f"▁{word}", -5.0) for word in words]
    made = Tokenizer(models.Unigram(scored, unk_id=2))
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    made.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", made.token_to_id("</s>"))]
    )
    return made


MADE: dict[str, Callable[[], Tokenizer]] = {
    "wordpiece": _wordpiece,
    "bytes": _bytes,
    "unigram": _unigram,
}
NAMES = {
    "wordpiece": {
        "pad_token": "[PAD]",
        "unk_token": "[UNK]",
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "mask_token": "[MASK]",
    },
    "bytes": {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"},
    "unigram": {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"},
}


def tokenizer(kind: str) -> Any:
    """Return a fast tokenizer that knows the words of a few sentences."""
    return hf.PreTrainedTokenizerFast(tokenizer_object=MADE[kind](), **NAMES[kind])
