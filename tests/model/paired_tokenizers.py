"""Small tokenizers that join two texts as those of well-known encoders do."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import transformers as hf
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers, processors, trainers

from tests.model.conftest import TEXTS
from tests.model.tiny_tokenizers import tokenizer

NAMED = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")  # as in RoBERTa and XLM-R
ROBERTA = {
    "bos_token": "<s>",
    "cls_token": "<s>",
    "eos_token": "</s>",
    "sep_token": "</s>",
    "pad_token": "<pad>",
    "unk_token": "<unk>",
    "mask_token": AddedToken("<mask>", lstrip=True, special=True),
}
TYPED = ["input_ids", "token_type_ids", "attention_mask"]
TWO_SEPARATORS = {"single": "<s> $A </s>", "pair": "<s> $A </s> </s> $B </s>"}


def _finished(made: Tokenizer, templates: dict[str, str], ends: tuple[str, str]) -> Tokenizer:
    ids = [(token, made.token_to_id(token)) for token in ends]
    made.post_processor = processors.TemplateProcessing(**templates, special_tokens=ids)
    return made


def bert() -> Any:
    """WordPiece; the second text has type 1."""
    made = tokenizer("wordpiece")
    made.model_input_names = TYPED
    return made


def roberta() -> Any:
    """Bytes; two separators, no types, and a mask that takes the space before it."""
    made = Tokenizer(models.BPE(unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=[*NAMED],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(TEXTS[:3], trainer)
    _finished(made, TWO_SEPARATORS, ("<s>", "</s>"))
    inputs = ["input_ids", "attention_mask"]
    return hf.PreTrainedTokenizerFast(tokenizer_object=made, model_input_names=inputs, **ROBERTA)


def _unigram() -> Tokenizer:
    letters = sorted({letter for text in TEXTS for letter in text} - {" "})
    words = sorted({word for text in TEXTS for word in re.findall(r"\b[a-z]{2,3}\b", text)})
    scored = [(special, 0.0) for special in NAMED]
    scored += [(letter, -4.0) for letter in ["▁", *letters, *"<>/[]"]]
    scored += [(f"▁{word}", -5.0) for word in words]
    made = Tokenizer(models.Unigram([*dict(scored).items()], unk_id=3))
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    return made


def xlm_roberta() -> Any:
    """SentencePiece, whose vocabulary holds the control tokens as pieces; two separators."""
    made = _finished(_unigram(), TWO_SEPARATORS, ("<s>", "</s>"))
    inputs = ["input_ids", "attention_mask"]
    return hf.PreTrainedTokenizerFast(tokenizer_object=made, model_input_names=inputs, **ROBERTA)


def xlnet() -> Any:
    """The classifier's token comes last, with a type of its own."""
    templates = {"single": "$A:0 </s>:0 <s>:2", "pair": "$A:0 </s>:0 $B:1 </s>:1 <s>:2"}
    made = _finished(_unigram(), templates, ("<s>", "</s>"))
    return hf.PreTrainedTokenizerFast(tokenizer_object=made, model_input_names=TYPED, **ROBERTA)


def words() -> Any:
    """Whole words between spaces: a typed control string is a word of the vocabulary."""
    listed = [*NAMED, *sorted({word for text in TEXTS for word in text.split()})]
    vocabulary = {word: id_ for id_, word in enumerate(listed)}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    templates = {"single": "<s> $A </s>", "pair": "<s> $A </s> $B:1 </s>:1"}
    _finished(made, templates, ("<s>", "</s>"))
    return hf.PreTrainedTokenizerFast(tokenizer_object=made, model_input_names=TYPED, **ROBERTA)


PAIRED: dict[str, Callable[[], Any]] = {
    "bert": bert,
    "roberta": roberta,
    "xlm-roberta": xlm_roberta,
    "xlnet": xlnet,
    "words": words,
}
