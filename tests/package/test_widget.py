"""The widget of notebooks, without a notebook."""

from typing import Any

import pytest
from traitlets import TraitError

import headlight
from app.traces.interventions import InterventionRequest, stated
from headlight import Intervention, Widget
from model import Adapter

SENTENCE = "The cat sat on the mat."
OFF = Intervention("decoder.1.cross", "zero", 4)
CHANGES: list[dict[str, Any]] = [
    {"at": "decoder.1.cross", "head": 4, "do": "zero"},
    {"at": "decoder.1.cross", "heads": [1, 2], "do": "uniform"},
    {"at": "decoder.1.cross", "head": 0, "do": {"set": [1, 2, 0.5], "renormalise": True}},
    {"at": "decoder.1.cross", "do": {"cut": [[1, 2], [0, 1]]}},
    {"at": "decoder.1.cross", "do": {"cut": [1, 2]}},
    {"at": "decoder.1.cross", "do": {"temperature": 0.5}},
    {"at": "decoder.1.cross", "do": {"freeze": {"source": "A dog.", "target": "狗"}}},
    {"at": "decoder.1.cross.mix", "do": {"patch": {"source": "A dog.", "rows": [[0, 1]]}}},
    {"at": "source", "do": {"mask": 1}},
    {"at": "source.position", "do": {"shuffle": 3}},
    {"at": "encoder.1.ffn.output", "rows": [1], "units": [2], "do": {"scale": 0.5}},
    {"at": "encoder.1.ffn.output", "do": {"add": [0.5, 1.0]}},
    {
        "at": "encoder.1.ffn.output",
        "do": {"add": {"to": {"source": "A", "row": 1}, "times": 2.0}},
    },
]


@pytest.fixture(scope="module")
def model() -> Adapter:
    return headlight.load("en-zh")


@pytest.mark.parametrize("change", CHANGES)
def test_an_intervention_is_stated_as_a_request_states_it(change: dict[str, Any]) -> None:
    assert stated(InterventionRequest.model_validate(change).intervention()) == change


def test_changes_run_the_model(model: Adapter) -> None:
    widget = Widget(model, SENTENCE, block="cross", layer=1, head=4)
    names: list[str] = []
    widget.observe(lambda change: names.append(change.name), "trace")
    widget.changes = [OFF]
    expected = model.trace(SENTENCE, interventions=[OFF])
    assert widget.trace["decoder.2.cross.weights"] == expected["decoder.2.cross.weights"]
    assert widget.trace.output == expected.output
    stated_off: Any = [{"at": "decoder.1.cross", "head": 4, "do": "zero"}]
    widget.changes = stated_off
    assert list(widget.changes) == [OFF]
    assert names == ["trace"]  # the same change again
    widget.text = "Hello."
    assert widget.trace.request.source == "Hello."


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("head", 8, "head is 8; the heads of cross are 0 … 7"),
        ("layer", -1, "layer is -1"),
        ("block", "middle", "known are encoder, decoder, cross"),
        ("pinned", (0, 99), "key of pinned is 99"),
        ("pinned", 3, r"must be \(query, key\) or None"),
        ("changes", [Intervention("decoder.9.cross", "zero")], "must be a place of the model"),
        ("changes", OFF, "must be a list"),
    ],
)
def test_what_the_model_lacks_is_refused(model: Adapter, name: str, value: Any, said: str) -> None:
    widget = Widget(model, SENTENCE, block="cross")
    before = getattr(widget, name)
    with pytest.raises(TraitError, match=said):
        setattr(widget, name, value)
    assert getattr(widget, name) == before


def test_a_page_is_answered_as_by_the_server(model: Adapter) -> None:
    widget = Widget(model, SENTENCE)
    sent: list[tuple[Any, Any]] = []
    widget.send = lambda about, buffers: sent.append((about, buffers))
    body = '{"source": "Hello.", "select": []}'
    question = {"view": "1-2", "id": 7, "method": "POST", "accept": "*/*", "body": body}
    widget._answer(widget, {**question, "path": "/api/trace"}, [])
    widget._answer(widget, {**question, "path": "/api/shares"}, [])
    assert widget._api is not None
    loop = widget._api._loop
    widget.close()
    widget.close()
    assert loop.is_closed()
    (about, [content]), (refused, _) = sent
    assert about == {"view": "1-2", "id": 7, "status": 200, "type": "application/json"}
    assert b'"output"' in content
    assert refused["status"] == 404


def test_a_file_without_a_kernel_keeps_the_figure(model: Adapter) -> None:
    bundle, _ = Widget(model, SENTENCE)._repr_mimebundle_()
    assert "<iframe" in bundle["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in bundle
