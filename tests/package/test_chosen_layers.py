"""Some layers of a model in a figure: those of the whole model's run, numbered anew."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from traitlets import TraitError

from headlight import Intervention, Patch, Receiver, Request, Widget, load, show
from headlight.chosen_layers import ChosenLayers
from headlight.command import headlight
from model import Adapter, InputError
from tests.package.test_arrays import weights

TEXT = "The cat sat on the mat."


@pytest.fixture(scope="module")
def whole() -> Adapter:
    return load("en-zh")


def test_a_figure_has_the_chosen_layers_of_the_whole_run(whole: Adapter) -> None:
    figure = show(whole, TEXT, layers=[2, 0])
    assert figure.content is not None
    trace = whole.trace(TEXT, select="*")
    arrays = figure.content.trace.arrays
    for new, layer in enumerate((0, 2)):
        for place in ("encoder.{}.self", "decoder.{}.self", "decoder.{}.cross"):
            for part in ("weights", "mask", "q", "k", "v"):
                name = f"{place.format(new)}.{part}"
                recorded = np.asarray(trace[f"{place.format(layer)}.{part}"])
                np.testing.assert_array_equal(arrays[name], recorded, err_msg=name)
    np.testing.assert_array_equal(
        arrays["decoder.probabilities"], np.asarray(trace["decoder.probabilities"])
    )
    assert not [name for name in arrays if ".2." in name]
    assert figure.content.about["model"]["layers"] == {"encoder": 2, "decoder": 2}
    assert "The layers of this figure are layers 1, 3 of the model." in figure.html.decode()
    assert len(figure.html) < len(show(whole, TEXT).html)


def test_what_is_known_of_heads_moves_with_their_layers(whole: Adapter) -> None:
    best = whole.info.aligners[0]
    model = ChosenLayers(whole, [best.layer])
    assert (model.info.aligners[0].layer, model.info.aligners[0].head) == (0, best.head)
    others = [layer for layer in range(3) if layer != best.layer]
    assert best.error_rate not in [
        one.error_rate for one in ChosenLayers(whole, others).info.aligners
    ]
    (summary,) = model.trace(TEXT, select=[], summarise="decoder.0.cross").summaries.values()
    (known,) = whole.trace(
        TEXT, select=[], summarise=f"decoder.{best.layer}.cross"
    ).summaries.values()
    assert summary == known


def test_the_model_runs_whole_and_as_the_request_says(whole: Adapter) -> None:
    request = Request(TEXT, interventions=(Intervention("decoder.1.cross", "zero"),))
    model = ChosenLayers(whole, [2], request.interventions)
    trace = model.trace(TEXT, select=["*.weights"])
    changed = whole.trace(request, select=["decoder.2.cross.weights"])
    np.testing.assert_array_equal(
        np.asarray(trace["decoder.0.cross.weights"]), np.asarray(changed["decoder.2.cross.weights"])
    )
    assert trace.output.text == changed.output.text
    with pytest.raises(InputError, match="names no tensor"):
        ChosenLayers(whole, [2]).trace(TEXT, select=["decoder.2.cross.weights"])


def test_a_change_is_of_the_layer_that_the_figure_calls_so(whole: Adapter) -> None:
    chosen = ChosenLayers(whole, [0, 2])
    patch = Patch(Request("A dog."), ((1, 2),), to=Receiver("decoder.1.cross.v"))
    in_model = replace(patch, to=Receiver("decoder.2.cross.v"))
    pairs = [
        (Intervention("decoder.1.cross", "zero", 3), Intervention("decoder.2.cross", "zero", 3)),
        (
            Intervention("decoder.1.cross.mix", "scale", value=0.5),
            Intervention("decoder.2.cross.mix", "scale", value=0.5),
        ),
        (Intervention("encoder.0.self", "uniform"), Intervention("encoder.0.self", "uniform")),
        (
            Intervention("encoder.0.self.mix", "patch", 3, patch),
            Intervention("encoder.0.self.mix", "patch", 3, in_model),
        ),
        (Intervention("source", "mask", value=1), Intervention("source", "mask", value=1)),
    ]
    for change, same in pairs:
        trace = chosen.trace(TEXT, interventions=[change], target="猫坐在垫子上。")
        expected = whole.trace(TEXT, interventions=[same], target="猫坐在垫子上。")
        np.testing.assert_array_equal(
            np.asarray(trace["decoder.1.cross.weights"]),
            np.asarray(expected["decoder.2.cross.weights"]),
            err_msg=str(change),
        )
        assert trace.output.logprobs == expected.output.logprobs
    with pytest.raises(InputError, match=r"decoder.2.cross is no layer of this figure"):
        chosen.trace(TEXT, interventions=[Intervention("decoder.2.cross", "zero")])


def test_a_changed_run_is_drawn_as_one(whole: Adapter) -> None:
    change = Intervention("decoder.1.cross", "zero", 4)
    request = Request(TEXT, interventions=(change,), target="猫坐在垫子上。")
    figure = show(whole, request).content
    assert figure is not None
    state = figure.about["state"]
    assert state["interventions"] == [{"at": "decoder.1.cross", "head": 4, "do": "zero"}]
    assert state["target"] == "猫坐在垫子上。"
    some = show(whole, request, layers=[2], lang="zh").content
    assert some is not None
    assert {"text": "图中的模型已修改：zero (decoder.1.cross)。", "doubt": True} in some.about[
        "notices"
    ]


def test_it_offers_what_it_can_do(whole: Adapter) -> None:
    info = ChosenLayers(whole, [1]).info
    assert "decode" in info.capabilities
    assert not info.capabilities & {"sweep", "worksheet", "lens", "attribution", "long"}
    assert info.missing["lens"] == "some-layers"
    last = [*ChosenLayers(whole, [1]).decode(TEXT).steps][-1]
    written = [*whole.decode(TEXT).steps][-1].written
    assert last.written[0].ids == written[0].ids


def test_a_widget_has_some_layers_too(whole: Adapter) -> None:
    widget = Widget(whole, TEXT, layers=[1, 2], block="cross")
    off = Intervention("decoder.0.cross", "zero", 4)
    widget.changes = [off]
    expected = whole.trace(TEXT, interventions=[replace(off, at="decoder.1.cross")])
    np.testing.assert_array_equal(
        np.asarray(widget.trace["decoder.1.cross.weights"]),
        np.asarray(expected["decoder.2.cross.weights"]),
    )
    with pytest.raises(TraitError, match="layer is 2; the layers of cross are 0 … 1"):
        widget.layer = 2
    given = Widget([weights(2, 3, 3)] * 3, ["a", "b", "c"], layers=[2], scheme="words")
    assert given.trace.model.layers == {"encoder": 1}


def test_layers_that_do_not_exist_are_refused(whole: Adapter) -> None:
    with pytest.raises(ValueError, match="there is no layer 9; they count from 0 to 2"):
        show(whole, TEXT, layers=[0, 9])
    with pytest.raises(ValueError, match="it must be a list of layers"):
        show(whole, TEXT, layers=[])
    with pytest.raises(ValueError, match=r"layer is 1; the layers of cross are 0 … 0"):
        show(whole, TEXT, layers=[2], layer=1)


def test_the_command_counts_layers_from_1(tmp_path: Path) -> None:
    file = tmp_path / "cat.html"
    options = ["--layers", "1,3", "--out", str(file)]
    done = CliRunner().invoke(headlight, ["show", TEXT, *options])
    assert done.exit_code == 0, done.output
    assert "layers 1, 3 of the model" in file.read_text(encoding="utf-8")
    for wrong in ("0", "1,,3", "a"):
        done = CliRunner().invoke(headlight, ["show", TEXT, "--layers", wrong, "--out", str(file)])
        assert done.exit_code == 2
        assert "must be numbers from 1" in done.output
