"""Bytes as characters of windows-1252, as handouts hold them."""

import html
import json
from base64 import b64decode
from typing import Any

import numpy as np
import safetensors.numpy
from babel.messages.extract import extract_from_file
from hypothesis import given
from hypothesis import strategies as st

from app.assets.bundles import PAGES, Linker, script
from app.assets.files import STATIC
from app.assets.languages import messages
from app.assets.packing import CHARSET, coded, decoded, in_base64, planes
from app.engine.wire import Reply
from app.handout_file import said


@given(st.binary(max_size=200))
def test_what_is_coded_is_read_again_and_means_nothing_where_it_stands(content: bytes) -> None:
    text = coded(content)
    assert decoded(text, len(content)) == content
    assert len(text.encode(CHARSET)) == len(text) <= len(content) * 8 / 23 * 3 + 3
    assert html.escape(text) == text == text.strip()
    assert json.dumps(text, ensure_ascii=False) == f'"{text}"'


def test_every_group_of_characters_is_reached() -> None:
    content = np.random.default_rng(0).bytes(100_000)
    text = coded(content)
    assert len({*text}) == 209
    assert decoded(text, len(content)) == content
    assert coded(b"\xff" * 23) == coded(b"\xff" * 46)[:24]


def test_blocks_are_base_64_in_a_notebook() -> None:
    page = f'<script id="a" data-bytes="4">{coded(b"abcd")}</script><p>&lt;</p>'
    found = in_base64(page)
    assert found.startswith('<script id="a" data-base64>')
    assert b64decode(found.partition(">")[2].partition("<")[0]) == b"abcd"
    assert found.endswith("</script><p>&lt;</p>")


@given(st.binary(max_size=40))
def test_planes_are_the_same_bytes_by_their_place_in_a_number(numbers: bytes) -> None:
    whole = len(numbers) // 4 * 4
    expected = b"".join(numbers[place:whole:4] for place in range(4)) + numbers[whole:]
    assert planes(numbers) == expected


def test_a_handout_has_the_messages_of_its_modules_and_few_others() -> None:
    modules = Linker(STATIC / "js", PAGES["handout"].instead).needed("pages/handout.js")
    wanted = {
        message
        for path in modules
        for _, message, *_ in extract_from_file("javascript", path, keywords={"t": None})
    }
    has, known = said(script("handout"), "zh"), messages("zh")
    assert {message for message in wanted if message in known} <= has.keys()
    assert len(has) < len(known) / 2


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
