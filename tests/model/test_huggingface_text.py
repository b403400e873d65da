"""Tokens of models of `transformers`: offsets in the text as sent, and no marks of a vocabulary."""

from itertools import pairwise
from pathlib import Path

import pytest
import torch

pytest.importorskip("transformers")

import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from model.adapters.huggingface.huggingface_adapter import load_huggingface
from model.adapters.huggingface.tokenizer import TextTokenizer
from model.adapters.requests.request import Decode
from tests.model.tiny_huggingface import make
from tests.model.tiny_tokenizers import tokenizer

KINDS = ["wordpiece", "bytes", "unigram"]
TEXTS = [
    "The cat sat on the mat.",
    "A dog  ran,\nand it didn't stop",
    "the 猫 sat 😀!",
    "café 我们",
]


def text(kind: str) -> TextTokenizer:
    words = tokenizer(kind)
    return TextTokenizer(words, len(words))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sentence", TEXTS)
def test_offsets_are_those_of_the_text_as_sent(kind: str, sentence: str) -> None:
    known = text(kind)
    tokens = known.encode(sentence)
    assert [token.id for token in tokens] == known.tokenizer(sentence)["input_ids"]
    covered = set[int]()
    for token in tokens:
        covered.update(range(token.start, token.end))
        assert not {"Ġ", "▁", "\ufffd"} & set(token.text)
        assert not token.text.startswith("##")
        if token.end > token.start and "<0x" not in token.text:
            assert token.text.strip() == sentence[token.start : token.end].strip()
        if token.special:
            assert token.start == token.end
    assert {i for i, one in enumerate(sentence) if not one.isspace()} <= covered


@pytest.mark.parametrize("sentence", TEXTS)
def test_the_pieces_of_a_character_share_its_span(sentence: str) -> None:
    tokens = text("bytes").encode(sentence)
    for index, character in enumerate(sentence):
        own = [one for one in tokens if one.start == index and one.end == index + 1]
        spelled = "".join(one.text for one in own)
        if "<0x" in spelled:
            codes = spelled.replace("<0x", "").replace(">", "").strip()
            assert bytes.fromhex(codes).decode() == character


@pytest.mark.parametrize("sentence", ["a 😀 b", "😀 猫", "  猫 😀😀", "猫 a 😀"])
def test_a_space_before_a_character_is_not_in_the_span_of_its_bytes(sentence: str) -> None:
    """As in vocabularies that merge the space with the first byte of what often follows it."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("Ġ", "ð"), ("Ġ", "ç")]  # the bytes F0 and E7
    pieces = [*alphabet, *map("".join, merges)]
    made = Tokenizer(models.BPE({piece: i for i, piece in enumerate(pieces)}, merges))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    known = TextTokenizer(
        transformers.PreTrainedTokenizerFast(tokenizer_object=made), 258, continues=True
    )
    tokens = known.encode(sentence)
    assert any(token.text.startswith(" <0x") for token in tokens)
    spelled, written = known.written([token.id for token in tokens])
    assert spelled == sentence
    for both in (tokens, written):
        for one in both:
            assert (
                one.text == " "
                or sentence[one.start : one.end].strip() == sentence[one.start : one.end]
            )
            spaced = one.start > 0 and sentence[one.start - 1] == " " and "<0x" in one.text
            first = not any(o.start == one.start for o in both[: both.index(one)])
            assert one.text.startswith(" <0x") <= (spaced and first)
        assert {i for one in both for i in range(one.start, one.end)} >= {
            i for i, character in enumerate(sentence) if character != " "
        }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sentence", TEXTS)
def test_what_is_written_is_spelled_by_its_tokens(kind: str, sentence: str) -> None:
    known = text(kind)
    ids = known.tokenizer(sentence, add_special_tokens=False)["input_ids"]
    spelled, tokens = known.written(ids)
    assert spelled == known.tokenizer.decode(ids, skip_special_tokens=True).lstrip(" ")
    assert [token.id for token in tokens] == ids
    for before, token in pairwise(tokens):
        assert token.special or before.special or token.start >= before.start
    for token in tokens:
        if not token.special and "<0x" not in token.text:
            assert token.text.strip() == spelled[token.start : token.end].strip()


def test_a_control_string_that_is_typed_stays_text() -> None:
    known = text("bytes")
    tokens = known.encode("a </s> b")
    assert known.tokenizer.eos_token_id not in [token.id for token in tokens]
    assert not any(token.special for token in tokens)


def test_a_mask_is_typed_to_be_filled_in() -> None:
    known = text("wordpiece")
    tokens = known.encode("the [MASK]")
    assert known.tokenizer.mask_token_id in [token.id for token in tokens]


def test_candidates_show_where_a_word_begins() -> None:
    for kind in KINDS:
        known = text(kind)
        for id_ in range(len(known.tokenizer)):
            token = known.token(id_)
            assert not {"Ġ", "▁", "\ufffd"} & set(token.text), token
            assert not known.token(id_, first=True).text.startswith(" ") or not token.text.strip()


def test_an_output_of_its_own_is_not_tied_again(tmp_path: Path) -> None:
    """T5 1.1 has a separate output matrix, but `transformers` ties that of every T5."""
    make("t5", tmp_path)
    model = transformers.T5ForConditionalGeneration.from_pretrained(tmp_path)
    torch.manual_seed(1)
    own = torch.randn_like(model.lm_head.weight)
    model.lm_head.weight = torch.nn.Parameter(own)
    model.save_pretrained(tmp_path)
    adapter = load_huggingface(tmp_path, "cpu")
    assert torch.equal(adapter.model.lm_head.weight, own)
    assert not torch.equal(adapter.model.shared.weight, own)


def test_every_search_writes(tmp_path: Path) -> None:
    adapter = load_huggingface(make("gpt2", tmp_path), "cpu")
    for method in ("greedy", "sample", "beam"):
        *_, last = adapter.decode("The cat", decode=Decode(method, max_tokens=6)).steps
        assert 1 <= len(last.written[0].ids) <= 6
    ids = torch.tensor([[token.id for token in adapter.trace("The cat").texts["text"]]])
    *_, last = adapter.decode("The cat", decode=Decode(max_tokens=6)).steps
    never = adapter.text.never.tolist()
    found = adapter.model.generate(
        ids, max_new_tokens=6, do_sample=False, suppress_tokens=never, use_cache=True
    )
    assert found[0, ids.shape[1] :].tolist() == list(last.written[0].ids)


@pytest.mark.parametrize("kind", ["bytes", "unigram"])
def test_a_continuation_keeps_the_space_that_it_begins_with(kind: str) -> None:
    words = tokenizer(kind)
    known = TextTokenizer(words, len(words), continues=True)
    ids = [id_ for id_ in words(" cat sat")["input_ids"] if id_ not in known.specials]
    spelled, tokens = known.written(ids)
    assert spelled == " cat sat"
    assert known.token(ids[0], first=True).text.startswith(" ")
    assert "".join(spelled[one.start : one.end] for one in tokens) == "catsat"
