"""Bytes as text, as handouts hold them."""

import gzip
import io
import re
from base64 import b64decode, b85encode
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from babel.messages.extract import extract
from hypothesis import given
from hypothesis import strategies as st

from app.assets.bundles import PAGES, script
from app.assets.languages import messages
from app.engine.reply_formats import Reply
from app.handouts import handout_html
from app.handouts.handout_html import translated
from app.handouts.packing import DIGITS_85, base85, block, planes


@given(st.binary(max_size=200))
def test_what_is_packed_is_ascii_that_no_editor_changes(content: bytes) -> None:
    text = block("a", content)
    (packed,) = re.findall(
        r'^<script type="application/gzip" id="a">([A-Za-z0-9+/=]*)</script>$', text
    )
    assert gzip.decompress(b64decode(packed)) == content


PYTHON_85 = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"


@given(st.binary(max_size=4_000))
def test_base_85_is_python_s_in_an_alphabet_that_pages_hold_as_it_is(content: bytes) -> None:
    text = base85(content)
    expected = b85encode(content).translate(bytes.maketrans(PYTHON_85, DIGITS_85)).decode()
    assert text.replace("\n", "") == expected
    assert all(len(line) <= 1_000 for line in text.split("\n"))
    assert not {*text} & {*"<>&\"'\\`${"}


@given(st.binary(max_size=40))
def test_planes_are_the_same_bytes_by_their_place_in_a_number(numbers: bytes) -> None:
    whole = len(numbers) // 4 * 4
    expected = b"".join(numbers[place:whole:4] for place in range(4)) + numbers[whole:]
    assert planes(numbers) == expected


def messages_of(code: str) -> list[str | tuple[str, ...]]:
    """Return the messages of a script, read without the code that translates them."""
    found = extract("javascript", io.BytesIO(code.encode()), keywords={"t": None})
    return [message for _, message, *_ in found]


@pytest.mark.parametrize("page", [name for name in PAGES if name.endswith("handout")])
def test_a_handout_has_its_messages_in_its_language(page: str) -> None:
    code, known = script(page), messages("zh")
    english, chinese = messages_of(code), messages_of(translated(code, "zh"))
    assert len(english) > 200
    assert chinese == [known.get(str(message), message) for message in english]
    assert translated(code, "en") == code


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ('t("{n} heads", { n })', 't("{n} 个头", { n })'),
        ('page.t(\n"{n} " +\n  "heads")', 'page.t("{n} 个头")'),
        ('[t("a\\u2013\\"b\\"")]', '[t("甲\\n\\"乙\\"")]'),
        ('say(t("one"))', 'say(t("一"))'),
        ('t("unknown")', 't("unknown")'),
        ('not("one") + $t("one") + "one"', 'not("one") + $t("one") + "one"'),
    ],
)
def test_only_messages_are_translated(
    code: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {"{n} heads": "{n} 个头", 'a–"b"': '甲\n"乙"', "one": ["一", "几"]}
    monkeypatch.setattr(handout_html, "messages", lambda _: known)
    assert translated(code, "zh") == expected


def test_a_file_of_tensors_is_what_safetensors_reads() -> None:
    draw = np.random.default_rng(0)
    arrays: dict[str, Any] = {
        "b": draw.random((2, 3, 4), np.float32),
        "a": np.asfortranarray(draw.random((5, 2)).astype(np.float16)),
        "mask": draw.random((3, 3)) < 0.5,
        "ids": np.arange(7, dtype=np.int32)[::2],
        "none": np.zeros((0, 4), np.float32),
    }
    file = Reply({"猫": 1}, arrays).safetensors(share={"x": [1]})
    found = safetensors.numpy.load(file)
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)
    assert Reply.metadata(file) == {"trace": {"猫": 1}, "share": {"x": [1]}}
    start = 8 + int.from_bytes(file[:8], "little")
    assert start % 8 == 0
    assert (
        np.frombuffer(file[start : start + 96], np.float32).tolist() == arrays["b"].ravel().tolist()
    )


def test_equal_blocks_are_in_a_collection_once() -> None:
    held = [block("item-1-data", b"a"), block("item-2-data", b"a") + block("item-2-more", b"b")]
    first, second = handout_html._once(held)
    assert first == held[0]
    assert '<script type="application/gzip" id="item-2-data" data-same="item-1-data">' in second
    assert str(block("item-2-more", b"b")) in second


def test_few_digits_are_nearly_the_same_numbers() -> None:
    numbers = np.random.default_rng(0).normal(size=1000).astype(np.float32)
    few = handout_html._few(numbers)
    np.testing.assert_allclose(few, numbers, rtol=2**-handout_html.DIGITS)
    assert few.dtype == np.float32
    assert len(block("a", planes(few.tobytes()))) < 0.7 * len(block("a", planes(numbers.tobytes())))
    assert handout_html._few(np.arange(3)).tolist() == [0, 1, 2]
