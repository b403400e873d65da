"""Long passes of models of `transformers` against the library's own eager attention."""

from pathlib import Path

import pytest
import torch

from model.adapters.huggingface.huggingface_adapter import HuggingFace
from model.adapters.requests.request import Request
from model.errors import InputError
from model.trace.interventions import Intervention
from tests.model.opened_huggingface import opened
from tests.model.test_huggingface import EAGER, LONG, RECORDED, eager

pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hf")


def asked(adapter: HuggingFace) -> Request:
    return Request(LONG, target="A dog, I think." if len(adapter.info.texts) == 2 else None)


@pytest.mark.parametrize("name", RECORDED)
def test_weights_are_eagers(folders: Path, name: str) -> None:
    adapter = opened(folders / name)
    assert "long" in adapter.info.capabilities
    request = asked(adapter)
    trace = adapter.trace(request)
    _, expected = eager(adapter, folders / name, trace)
    exact, half = (adapter.long(request, dtype) for dtype in (torch.float32, torch.int16))
    assert exact.texts == trace.texts
    assert exact.attentions.keys() == expected.keys()
    for place, weights in expected.items():
        heads, n, m = exact.attentions[place].shape
        assert weights.shape == (heads, n, m)
        assert half.attentions[place].q.numbers.dtype == torch.int16
        for head in range(heads):
            found, coarse = (
                one.attentions[place].head(head).weights(slice(0, n), slice(0, m))
                for one in (exact, half)
            )
            torch.testing.assert_close(found, weights[head], atol=1e-6, rtol=1e-5, msg=place)
            torch.testing.assert_close(coarse, weights[head], atol=1e-6, rtol=2.4e-3, msg=place)
    if len(trace.texts) > 1:  # of one text, a long pass computes no logits
        assert trace.written is not None
        assert exact.written is not None
        assert exact.written.logprobs == pytest.approx(trace.written.logprobs, abs=1e-4)


@pytest.mark.parametrize("name", ["gpt2", "gpt-oss", "t5", "modernbert"])
def test_nothing_is_as_large_as_the_full_matrix(
    folders: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stored tensors grow with the length of the text, not with its square."""
    adapter = opened(folders / name)
    lengths, sizes = [], []
    for times in (1, 2):
        request = Request(LONG * times, target="A dog" if name == "t5" else None)
        kept = adapter.long(request, torch.int16)
        lengths.append(len(next(iter(kept.texts.values()))))
        sizes.append(next(iter(kept.attentions.values())).bytes)
    assert sizes[1] / sizes[0] == pytest.approx(lengths[1] / lengths[0], rel=0.1)


@pytest.mark.parametrize("name", EAGER[:3])
def test_a_model_that_shows_no_queries_and_keys_says_so(folders: Path, name: str) -> None:
    adapter = opened(folders / name)
    assert "long" not in adapter.info.capabilities
    with pytest.raises(InputError) as refused:
        adapter.long(Request(LONG), torch.int16)
    assert refused.value.kind == "unsupported"


def test_a_plain_run_beside_a_long_one_records_as_ever(folders: Path) -> None:
    """The two kinds of passes share one attention function."""
    adapter = opened(folders / "llama")
    before = adapter.trace(LONG)
    adapter.long(Request(LONG), torch.int16)
    off = Intervention("decoder.1.self", "zero", 2)
    assert adapter.trace(LONG) == before
    assert (adapter.trace(LONG, interventions=[off])["decoder.1.self.weights"].value[2] == 0).all()
