"""What Python and a notebook say of traces, tensors and records, and the short way to a tensor."""

import base64
import io
import re

import numpy as np
import pytest
import torch
from PIL import Image

import headlight
from model.trace.record import Record
from model.trace.tensor_tap import NamedTensor

TEXT = "The cat sat."
WEIGHTS = "decoder.0.cross.weights"


@pytest.fixture(scope="module")
def model() -> headlight.Adapter:
    return headlight.load("en-zh")


@pytest.fixture(scope="module")
def trace(model: headlight.Adapter) -> headlight.Trace:
    return model.trace(TEXT, select="*")


@pytest.fixture(scope="module")
def record(model: headlight.Adapter) -> Record:
    with headlight.record(model) as record:
        model.run([headlight.Request(TEXT)])
    return record


def images(html: str) -> list[Image.Image]:
    data = re.findall(r'src="data:image/png;base64,([^"]+)"', html)
    return [Image.open(io.BytesIO(base64.b64decode(text))) for text in data]


def test_a_representation_is_one_line(trace: headlight.Trace, record: Record) -> None:
    assert repr(trace) == f"Trace(en-zh, en-zh: 'The cat sat. → {trace.output.text}', " + (
        f"{len(trace.tensors)} tensors)"
    )
    assert repr(trace[WEIGHTS]) == "NamedTensor(head 8, query 5 of target, key 6 of source)"
    assert repr(record) == f"Record({len(record)} of {len(record.names)} selected tensors)"
    assert str(trace).count("\n") == 4
    assert str(record).count("\n") == len(record)


def test_a_tensor_is_drawn_head_by_head(trace: headlight.Trace) -> None:
    """The opacity of a pixel is a weight, as a share of the head's largest."""
    tensor = trace[WEIGHTS]
    pictures = images(tensor._repr_html_())
    assert len(pictures) == 8
    for head, picture in enumerate(pictures):
        weights = np.asarray(tensor)[head]
        assert picture.size == weights.shape[::-1]
        opacity = np.asarray(picture)[..., 3] / 255
        np.testing.assert_allclose(opacity, weights / weights.max(), atol=0.003)


def test_what_is_listed_is_named_and_cut(trace: headlight.Trace, record: Record) -> None:
    html = trace._repr_html_()
    assert len(trace.tensors) > 24
    assert f"… {len(trace.tensors) - 24} more" in html
    assert all(f"<code>{name}</code>" in html for name in list(trace.tensors)[:24])
    assert "The cat sat. → " in html
    assert len(html) < 200_000
    assert all(f"<code>{name}</code>" in record._repr_html_() for name in record)
    assert len(images(record._repr_html_())) == len(record)


def test_a_large_tensor_keeps_its_largest_number_of_either_sign() -> None:
    values = torch.zeros(500, 300)
    values[123, 45], values[400, 200] = 2.0, -4.0
    [picture] = images(NamedTensor(("position", "feature"), {}, values)._repr_html_())
    assert picture.size == (48, 48)
    pixels = np.asarray(picture)
    drawn = {tuple(pixels[row, column]) for row, column in np.argwhere(pixels[..., 3])}
    assert drawn == {(124, 92, 232, 128), (214, 106, 40, 255)}


@pytest.mark.parametrize("shape", [(), (3,), (0, 4), (2, 0)])
def test_what_is_no_matrix_has_a_line_only(shape: tuple[int, ...]) -> None:
    tensor = NamedTensor(("batch", "token")[: len(shape)], {}, torch.zeros(shape))
    assert "<img" not in tensor._repr_html_()
    assert "NamedTensor(" in tensor._repr_html_()


def test_text_is_escaped(model: headlight.Adapter) -> None:
    """A sentence with markup, and an axis with a name that is markup."""
    html = model.trace("<script>alert(1)</script> & <b>x</b>", select=[])._repr_html_()
    tags = re.findall(r"<(\w+)", html)
    assert set(tags) == {"div", "b"}
    assert tags.count("b") == 1
    assert "&lt;script&gt;" in html
    named = NamedTensor(("<i>", '"'), {}, torch.eye(2))._repr_html_()
    assert "<i>" not in named


def test_a_place_is_enough(trace: headlight.Trace, record: Record) -> None:
    assert trace.weights("decoder.0.cross") == trace[WEIGHTS]
    head = trace.weights("decoder.0.cross", head=3)
    assert head.dims == ("query", "key")
    torch.testing.assert_close(head.value, trace[WEIGHTS].value[3])
    for name in ("mask", "q", "k", "v"):
        assert getattr(trace, name)("decoder.0.self") == trace[f"decoder.0.self.{name}"]
    chosen = record.weights("decoder.0.self", batch=0, head=-1)
    assert chosen.dims == ("query", "key")
    torch.testing.assert_close(chosen.value, record["decoder.0.self.weights"].value[0, -1])


def test_an_axis_has_its_tokens(trace: headlight.Trace) -> None:
    weights = trace.weights("decoder.0.cross", head=3)
    assert trace.tokens(weights) == [token.text for token in trace.texts["source"]]
    assert trace.tokens(weights, "query") == [token.text for token in trace.texts["target"]]
    with pytest.raises(KeyError, match=r"head of .* has no tokens; query, key have"):
        trace.tokens(weights, "head")


def test_an_axis_and_an_index_that_do_not_exist_are_named(trace: headlight.Trace) -> None:
    with pytest.raises(IndexError, match=r"head is 8; it must be 0 … 7"):
        trace.weights("decoder.0.cross", head=8)
    with pytest.raises(KeyError, match=r"layer is no axis of"):
        trace.weights("decoder.0.cross", layer=0)
    with pytest.raises(KeyError, match=r"decoder\.9\.cross\.weights is not in this trace"):
        trace.weights("decoder.9.cross")
