"""Path patches in models of `transformers`, against their own modules, put together by hand."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from model.adapters.requests.request import Patch, Receiver, Request
from model.errors import InputError
from model.trace.interventions import Intervention
from tests.model.tiny_huggingface import build, make

pytest.importorskip("transformers")

from model.adapters.huggingface.huggingface_adapter import load_huggingface
from model.adapters.huggingface.models_in_memory import wrap

CAT, DOG = Request("The cat sat on the mat."), Request("The mat sat on the cat.")
WIDTH, HEADS = 8, 4


def outputs(library: Any, ids: Tensor, *modules: Any) -> list[Tensor]:
    """Return what modules return in a run of the library (N, D)."""
    found: dict[int, Tensor] = {}
    hooks = [
        one.register_forward_hook(lambda _, __, out, n=n: found.update({n: out}))
        for n, one in enumerate(modules)
    ]
    with torch.no_grad():
        library(input_ids=ids)
    for hook in hooks:
        hook.remove()
    return [found[n][0] for n in range(len(modules))]


@pytest.mark.parametrize("name", ["q", "k", "v"])
def test_gpt2_with_one_path(name: str) -> None:
    """From head 1 of the first layer to head 2 of the second: the network between is frozen."""
    made = build("gpt2")
    library, model = made[0].eval(), wrap(*made)
    path = Patch(DOG, None, Receiver(f"decoder.1.self.{name}", 2))
    sender = Intervention("decoder.0.self.mix", "patch", 1, path)
    found = model.trace(CAT, interventions=(sender,), select="decoder.logits")
    ids = [
        torch.tensor([[token.id for token in model.texts_of(one)["text"]]]) for one in (CAT, DOG)
    ]
    assert ids[0].shape == ids[1].shape
    first, second = library.transformer.h
    mixes = [
        model.trace(one, select="decoder.0.self.mix")["decoder.0.self.mix"].value
        for one in (CAT, DOG)
    ]
    rows = slice(WIDTH, 2 * WIDTH)
    change = (mixes[1] - mixes[0])[1] @ first.attn.c_proj.weight[rows].detach()
    [stream] = outputs(library, ids[0], first)
    width = WIDTH * HEADS
    start = ("q", "k", "v").index(name) * width + 2 * WIDTH
    columns = slice(start, start + WIDTH)
    with torch.no_grad():
        direct = second.attn.c_attn(second.ln_1(stream + change))[:, columns]

    def put(_: Any, __: Any, out: Tensor) -> Tensor:
        out = out.clone()
        out[0, :, columns] = direct
        return out

    with torch.no_grad():
        plain = library(input_ids=ids[0]).logits[0]
        hook = second.attn.c_attn.register_forward_hook(put)
        expected = library(input_ids=ids[0]).logits[0]
        hook.remove()
    torch.testing.assert_close(found["decoder.logits"].value, expected, atol=1e-5, rtol=0)
    assert (expected - plain).abs().max() > 1e-5


def test_a_path_needs_the_output_of_every_sublayer(tmp_path: Path) -> None:
    model = load_huggingface(make("albert", tmp_path / "albert"), "cpu")
    assert not [name for name in model.names if name.endswith(".output")]
    path = Patch(DOG, None, Receiver("encoder.1.self.q", 2))
    made = Intervention("encoder.0.self.mix", "patch", 1, path)
    with pytest.raises(InputError, match="does not record the output") as caught:
        model.trace(CAT, interventions=(made,))
    assert (caught.value.kind, caught.value.field) == (
        "unsupported",
        "interventions[0].do.patch.to",
    )
