"""Some layers of a model in a figure: those of the whole model's run, numbered anew."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from headlight import Intervention, Request, load, show
from headlight.chosen_layers import ChosenLayers
from headlight.command import headlight
from model import Adapter, InputError

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
    trace = ChosenLayers(whole, [2]).trace(request, select=["*.weights"])
    changed = whole.trace(request, select=["decoder.2.cross.weights"])
    np.testing.assert_array_equal(
        np.asarray(trace["decoder.0.cross.weights"]), np.asarray(changed["decoder.2.cross.weights"])
    )
    assert trace.output.text == changed.output.text
    with pytest.raises(InputError, match="names no tensor"):
        ChosenLayers(whole, [2]).trace(TEXT, select=["decoder.2.cross.weights"])


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
