"""Tokens as people have them: strings of every scheme, ids, batches."""

from typing import Any

import pytest
import torch

from headlight import given, show
from headlight.array_tokens import SCHEMES, read_tokens
from tests.model.tiny_tokenizers import tokenizer
from tests.package.test_arrays import WORDS, weights

BYTE_LEVEL = ["ä½łå¥½", "ĠcafÃ©", "Ċ", "ĠðŁ", "ĺĢ"]


def texts(*strings: str | bytes, **options: Any) -> list[str]:
    return [one.text for one in read_tokens("tokens", list(strings), **options).tokens]


def scheme(*strings: str | bytes) -> str:
    return str(read_tokens("tokens", list(strings)).notice)


def test_bytes_are_decoded_and_share_the_span_of_their_character() -> None:
    read = read_tokens("tokens", BYTE_LEVEL)
    assert read.text == "你好 café\n 😀"
    assert [one.text for one in read.tokens] == [
        "你好",
        " café",
        "\n",
        " <0xF0><0x9F>",
        "<0x98><0x80>",
    ]
    assert [read.text[one.start : one.end] for one in read.tokens] == [
        "你好",
        "café",
        "\n",
        "😀",
        "😀",
    ]
    assert texts("ä½ł") == ["你"]  # without any mark
    assert texts("▁x", "<0xE4>", "<0xBD>", "<0xA0>")[1:] == ["<0xE4>", "<0xBD>", "<0xA0>"]
    assert texts(b"a", " 你".encode()[:2]) == ["a", " <0xE4>"]


@pytest.mark.parametrize(
    ("strings", "said"),
    [
        (WORDS, "read as WordPiece"),
        (["▁the", "▁cat"], "read as SentencePiece"),
        (["The", "Ġcat"], "read as byte-level pieces"),
        (["ä½ł", "å¥½"], "read as byte-level pieces"),
        (["the</w>", "c", "at</w>"], "</w> at the end"),
        (["c@@", "at"], "@@ where a word continues"),
        (["The", " cat"], "begins with its own space"),
        ([b"a", b" b"], "UTF-8 bytes"),
        (["The", "cat"], "plain words"),
        (["był", "café", "naïve"], "plain words"),  # letters of the byte alphabet
        (["##", "Title"], "plain words"),
    ],
)
def test_the_scheme_is_recognised_and_said(strings: list[Any], said: str) -> None:
    assert said in scheme(*strings)
    size = len(strings)
    model = given([weights(2, size, size)], strings)
    assert said in " ".join(map(str, model.notices))


def test_the_scheme_can_be_named() -> None:
    assert texts("Ġorna", "u", scheme="words") == ["Ġorna", " u"]
    assert texts("a", "b", scheme="byte-level") == ["a", "b"]
    assert texts("low", "er", scheme="wordpiece") == [" low", " er"]
    with pytest.raises(ValueError, match=f"unknown; known are {', '.join(SCHEMES)}"):
        texts("a", scheme="bpe")


def test_plain_words_have_spaces_and_nothing_is_merged() -> None:
    read = read_tokens("tokens", ["hello", "world", ".", "我", "爱", "です", "か"])
    assert read.text == "hello world . 我爱 です か"
    for one in read.tokens:
        assert read.text[one.start : one.end] == one.text.strip()


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        (["I", "👩", "\u200d", "💻", "code"], "I 👩\u200d💻 code"),
        (["👨", "\u200d👩", "\u200d👧"], "👨\u200d👩\u200d👧"),
        (["👍", "🏽", "ok"], "👍🏽 ok"),
        (["❤", "\ufe0f", "🔥"], "❤\ufe0f 🔥"),
        (["🇩", "🇪", "🇫", "🇷"], "🇩🇪 🇫🇷"),
        (["🏴", "\U000e0067\U000e0062", "\U000e007f", "x"], "🏴\U000e0067\U000e0062\U000e007f x"),
        (["1", "\ufe0f", "\u20e3"], "1\ufe0f\u20e3"),
        (["cafe", "\u0301", "noir"], "cafe\u0301 noir"),
        (["می", "\u200c", "خواهم"], "می\u200cخواهم"),
    ],
)
def test_pieces_of_one_character_have_no_space_between_them(pieces: list[str], text: str) -> None:
    assert read_tokens("tokens", pieces, scheme="words").text == text


def test_other_schemes_begin_their_words() -> None:
    assert texts("the</w>", "c", "at</w>") == ["the", " c", "at"]
    assert texts("c@@", "at", "sat") == ["c", "at", " sat"]


@pytest.mark.parametrize("word", ["<div>", "</b>", "[A]", "[NOTE]", "<x|y>", "<|>", "[]"])
def test_anything_in_brackets_is_a_word(word: str) -> None:
    token = read_tokens("tokens", ["a", word]).tokens[1]
    assert not token.special
    assert word in read_tokens("tokens", ["a", word]).text


@pytest.mark.parametrize(
    "word",
    ["[CLS]", "<s>", "</s>", "<pad>", "<|endoftext|>", "<|im_start|>", "<｜begin▁of▁sentence｜>"],
)
def test_special_tokens_of_known_schemes_are_special(word: str) -> None:
    read = read_tokens("tokens", [word, "▁a"])
    assert (read.tokens[0].special, read.tokens[0].text, read.text) == (True, word, "a")


@pytest.mark.parametrize(
    ("tokens", "said"),
    [
        (None, "tokens are missing.*Grid"),
        ([1, 2, 3, 4, 5, 6], r"tokens are ids \(1, …\); pass tokenizer=… beside them"),
        (torch.tensor([[1, 2, 3, 4, 5, 6]]), "tokens are ids"),
        ({"input_ids": [[1, 2, 3, 4, 5, 6]]}, "tokens are ids"),
        ("a sentence", "the list of their tokens, not a sentence"),
        (3, "must be a list of strings, not int"),
        ([*WORDS[:5], None], "must be strings, not NoneType"),
        ([*WORDS[:5], 3], "must be strings, not int"),
        ([True] * 6, "must be strings, not bool"),
        ([], "tokens is empty"),
    ],
)
def test_what_is_no_list_of_tokens_says_what_is(tokens: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        show([weights(2, 6, 6)], tokens)


def test_a_batch_of_one_text_is_that_text_and_of_more_is_refused() -> None:
    assert given([weights(2, 6, 6)], [WORDS]).texts == given([weights(2, 6, 6)], WORDS).texts
    with pytest.raises(ValueError, match="tokens are a batch of 2 texts; choose one: tokens"):
        given([weights(2, 6, 6)], [WORDS, WORDS])


@pytest.mark.parametrize("kind", ["wordpiece", "bytes", "unigram"])
def test_ids_and_strings_are_read_with_their_tokenizer(kind: str) -> None:
    made = tokenizer(kind)
    ids = made("The cat sat, 你好.")["input_ids"]
    strings = made.convert_ids_to_tokens(ids)
    arrays = [weights(2, len(ids), len(ids))]
    forms = [ids, torch.tensor([ids]), {"input_ids": ids}, strings]
    models = [given(arrays, form, tokenizer=made) for form in forms]
    for model in models:
        assert model.texts == models[0].texts
        assert [one.special for one in model.texts["text"]] == [
            one in made.all_special_tokens for one in strings
        ]
        assert model.text.casefold() == made.decode(ids, skip_special_tokens=True).casefold()
        assert "Tokens were read with" in " ".join(map(str, model.notices))
    assert not show(arrays, ids, tokenizer=made).html.count(b"Traceback")
    with pytest.raises(ValueError, match="id 9999 is outside the tokenizer"):
        given(arrays, [*ids[:-1], 9999], tokenizer=made)


def test_an_encoding_of_the_tokenizers_library_has_its_tokens() -> None:
    made = tokenizer("wordpiece")
    encoding = made("The cat sat.").encodings[0]
    arrays = [weights(2, len(encoding), len(encoding))]
    texts = given(arrays, made("The cat sat."), tokenizer=made).texts
    assert given(arrays, encoding, tokenizer=made).texts == texts
    for other in (made.backend_tokenizer, object()):
        with pytest.raises(TypeError, match="needed is one of transformers"):
            given(arrays, encoding.ids, tokenizer=other)


def test_special_tokens_are_those_of_the_tokenizer() -> None:
    made = tokenizer("wordpiece")
    read = read_tokens("tokens", ["[CLS]", "<s>", "zebra"], made)  # zebra: not in its vocabulary
    assert [one.special for one in read.tokens] == [True, False, False]
