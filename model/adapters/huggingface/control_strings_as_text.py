"""A copy of a tokenizer that reads typed control strings, such as `[SEP]` and `</s>`, as text.

Its `split_special_tokens` is not enough for this. It would also split the mask, which a typed
`[MASK]` is meant to be; and a vocabulary that contains `</s>` as a piece still finds it in a text.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Collection
from typing import Any

from tokenizers import Tokenizer

HIDDEN = "\ue000"  # a private character, in front of pieces that no text is to match


def reads_controls_as_text(tokenizer: Any) -> Any:
    """Return a copy whose special tokens are only found by their ids, except the mask.

    The ids of all other texts are the same. It is to be called with `split_special_tokens`.
    """
    described = json.loads(tokenizer.backend_tokenizer.to_str())
    mask, unknown = tokenizer.mask_token, tokenizer.unk_token
    added = described["added_tokens"]
    controls = {*tokenizer.all_special_tokens, *(one["content"] for one in added if one["special"])}
    hidden = _hide(described["model"], controls - {mask, unknown})
    for token in added:
        if token["content"] == mask:
            token["special"] = False
    # A hidden one gets a new id, which is after those of all others.
    described["added_tokens"] = sorted(added, key=lambda token: token["content"] in hidden)
    copied = copy.copy(tokenizer)
    copied._tokenizer = Tokenizer.from_str(json.dumps(described))
    return copied


def _hide(model: dict[str, Any], controls: Collection[str]) -> set[str]:
    """Rename control pieces in a vocabulary that looks up whole pieces; return their names."""
    vocabulary = model["vocab"]
    if isinstance(vocabulary, list):  # Unigram: [piece, score]
        hidden = {piece for piece, _ in vocabulary if piece in controls}
        model["vocab"] = [
            [HIDDEN + piece if piece in hidden else piece, score] for piece, score in vocabulary
        ]
        return hidden
    if model["type"] == "BPE" and not model.get("ignore_merges"):
        return set()  # no merge makes one
    hidden = {piece for piece in vocabulary if piece in controls}
    model["vocab"] = {
        HIDDEN + piece if piece in hidden else piece: id_ for piece, id_ in vocabulary.items()
    }
    return hidden
