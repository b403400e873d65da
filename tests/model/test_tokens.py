"""The tokenizer: any text can be encoded and decoded, and every token has its offsets."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from model.text.tokens import Tokenizer, normalise
from model.text.writing_systems import Detector, fold

anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
likely = st.text(
    "aA Z'’.,你我說説体體　，。▁<pad>2zh0９ＡéÅe\u0301\u0300😀\n\t\u200d豈", max_size=30
)


@given(anything | likely)
@example("e\u0301")
@example("▁ ▁")
@example("豈")
@example("<pad><bos>")
def test_decoding_undoes_encoding(tokenizer: Tokenizer, text: str) -> None:
    ids = [token.id for token in tokenizer.encode(text)]
    assert tokenizer.written(ids)[0] == normalise(text)


@given(anything | likely)
def test_normalising_twice_is_normalising_once(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)
    assert fold(fold(text)) == fold(text)
    assert len(fold(text)) == len(text)


@given(anything | likely)
def test_spans_lie_in_order_inside_the_text(tokenizer: Tokenizer, text: str) -> None:
    tokens = tokenizer.encode(text)
    spans = [(token.start, token.end) for token in tokens]
    for span, following in pairwise(spans):
        assert following == span or following[0] >= span[1]
    assert all(0 <= start <= end <= len(text) for start, end in spans)


@given(anything)
def test_nothing_typed_is_a_control_token(tokenizer: Tokenizer, text: str) -> None:
    for typed in (text, f"{text}<pad>", f"<bos> {text}", "<2zh>"):
        tokens = tokenizer.encode(typed)
        assert not {token.id for token in tokens} & tokenizer.specials
        assert not any(token.special for token in tokens)


def test_a_sentence_reads_well(tokenizer: Tokenizer) -> None:
    texts = [token.text for token in tokenizer.encode("The cat didn't stop.")]
    assert "".join(texts) == "The cat didn't stop."
    assert texts[0] == "The"
    assert " cat" in texts
    assert "'t" in texts
    assert texts[-1] == "."
    chinese = [token.text for token in tokenizer.encode("我不知道她是谁。")]
    assert chinese == list("我不知道她是谁。")
    assert [token.text for token in tokenizer.encode("12")] == ["<0x31>", "<0x32>"]


def test_spans_of_a_mixed_text(tokenizer: Tokenizer) -> None:
    text = "The  cat 我😀"
    spans = {token.text: (token.start, token.end) for token in tokenizer.encode(text)}
    assert spans["The"] == (0, 3)
    assert text[slice(*spans[" cat"])] == " cat"
    pieces = [token for token in tokenizer.encode(text) if token.text.startswith("<0x")]
    assert [piece.text for piece in pieces] == ["<0xF0>", "<0x9F>", "<0x98>", "<0x80>"]
    assert {(piece.start, piece.end) for piece in pieces} == {(10, 11)}


def test_written_tokens_have_the_spans_of_their_text(tokenizer: Tokenizer) -> None:
    ids = [token.id for token in tokenizer.encode("The cat 猫😀!")]
    text, tokens = tokenizer.written([tokenizer.bos, *ids, tokenizer.eos])
    assert text == "The cat 猫😀!"
    assert "".join(dict.fromkeys(text[t.start : t.end] for t in tokens)) == text
    assert tokens[0].special
    assert (tokens[0].start, tokens[0].end) == (0, 0)
    assert tokens[-1].text == "<eos>"


def test_bytes_that_make_no_character_are_left_out(tokenizer: Tokenizer) -> None:
    ids = [token.id for token in tokenizer.encode("我😀")]
    text, tokens = tokenizer.written(ids[:-1])
    assert text == "我"
    assert len(tokens) == len(ids) - 1


def test_traditional_characters_are_understood() -> None:
    assert fold("東西") == "东西"
    assert fold("他看著我說話") == "他看着我说话"  # 說 and 話 say that 著 is traditional here
    assert fold("著名") == "著名"  # and nothing says it here
    assert fold("ＡＢ１２，。") == "AB12，。"
    assert fold("don’t ‘x’") == "don't ‘x’"


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ("THE CAT SAT. IT SLEPT!", "The cat sat. It slept!"),
        ('"I’M HERE", SAID MR. SMITH', '"I\'m here", said mr. Smith'),
        ("ÇA VA BIEN, ÉLÈVE?", "Ça va bien, élève?"),
        ("E\u0301LE\u0300VE ET MAI\u0302TRE", "E\u0301le\u0300ve et mai\u0302tre"),
        ("BUY 2 CDS", "Buy 2 cds"),
    ],
)
def test_a_text_in_capitals_is_read_as_a_sentence(sent: str, read: str) -> None:
    assert fold(sent) == read


@pytest.mark.parametrize(
    "text", ["NASA", "OK!", "I", "I A", "NASA and ESA", "我爱NBA和CBA", "A TV", "1 2", "İİ İİ"]
)
def test_what_may_be_an_abbreviation_stays(text: str) -> None:
    assert fold(text) == text


@pytest.mark.parametrize(
    ("languages", "text", "language"),
    [
        ("en zh", "Hello.", "en"),
        ("en zh", "你好。", "zh"),
        ("en zh", "我是 Tom。", "zh"),
        ("en zh", "是 Tom", "zh"),
        ("en zh", "My friend said 好 to me", "en"),
        ("en zh", "123 !?", "en"),
        ("en zh", "", "en"),
        ("zh en", "", "zh"),
        ("zh en", "Hello.", "en"),
        ("en ru", "Кошка сидела, said Tom", "ru"),
        ("ja zh", "猫が座った", "ja"),
        ("ja zh", "猫坐着", "zh"),
        ("de el", "Η γάτα", "el"),
        ("ko th", "แมวนั่ง", "th"),
        ("fr en", "The cat", "fr"),  # one script, so the first language
    ],
)
def test_language_by_script(languages: str, text: str, language: str) -> None:
    assert Detector(tuple(languages.split())).language(text) == language


def test_a_bundle_says_what_its_languages_are_written_in() -> None:
    assert Detector(("ru", "sr"), {"sr": "Latin"}).language("mačka") == "sr"
    with pytest.raises(ValueError, match="unknown script of sr: Klingon; known: Latin, Greek"):
        Detector(("ru", "sr"), {"sr": "Klingon"})


def test_the_same_texts_make_the_same_vocabulary() -> None:
    """The vocabulary is the same even if the rarest kept characters are as rare as others."""
    texts = [chr(0x4E00 + i) * (1 + i % 3) + f" word{i % 50}" for i in range(3000)]
    one, other = (Tokenizer.train(texts, 900, alphabet=200) for _ in range(2))
    assert all(one.ids([text]) == other.ids([text]) for text in texts)
