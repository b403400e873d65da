"""Long passes of this repository's own models against their traces."""

import pytest
import torch

from model.adapters.encoder_decoder.encoder_decoder_adapter import load
from model.adapters.requests.request import Request
from model.bundle.weights import CHECKPOINTS

SENTENCE = "The cat sat on the mat, and it did not move."


@pytest.mark.parametrize("name", ["en-zh", "zoo/brackets-window"])
def test_weights_are_the_traces(name: str) -> None:
    model = load(CHECKPOINTS / name, "cpu")
    request = Request(SENTENCE) if name == "en-zh" else Request("( ( ) )", target="( )")
    trace, kept = model.trace(request), model.long(request, torch.float32)
    assert (kept.texts, kept.written) == (trace.texts, trace.written)
    assert [*kept.attentions] == [*model.info.places]
    for place, one in kept.attentions.items():
        heads, n, m = one.shape
        for head in range(heads):
            found = one.head(head).weights(slice(0, n), slice(0, m))
            expected = trace[f"{place}.weights"].value[head]
            torch.testing.assert_close(found, expected, atol=1e-6, rtol=1e-5)
    assert model.texts_of(request)["source"] == trace.texts["source"]
    target = Request(request.source, target=trace.output.text)
    assert model.texts_of(target) == model.trace(target).texts
