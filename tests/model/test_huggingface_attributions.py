"""Attributions to source tokens in models of `transformers`, against the library's own model."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from model.adapters.requests.request import Request
from model.adapters.requests.trace import Trace
from model.errors import InputError
from model.explain import attribution
from model.explain.attribution import LONGEST, tolerance
from model.trace.interventions import Intervention
from model.trace.tensor_names import (
    ATTRIBUTIONS,
    CHANGE,
    GAP,
    GRADIENT_INPUT,
    INTEGRATED,
    OCCLUSION,
)
from tests.model.opened_huggingface import opened
from tests.model.tiny_huggingface import BART, T5, TINY

hf: Any = pytest.importorskip("transformers")

# In the last four, nearly all of the change lies in a small part of the path.
STEEP: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "mt5": ("MT5ForConditionalGeneration", "MT5Config", T5, "unigram"),
    "umt5": ("UMT5ForConditionalGeneration", "UMT5Config", T5, "unigram"),
    "mbart": ("MBartForConditionalGeneration", "MBartConfig", BART, "bytes"),
    "pegasus": ("PegasusForConditionalGeneration", "PegasusConfig", BART, "bytes"),
}
TINY.update(STEEP)
MODELS = ["t5", "bart", "marian", "m2m100", "t5gemma"]
ALL = (*sorted(ATTRIBUTIONS), "source.embedding")
ASKED = Request("The cat sat on the mat.", target="A dog ran.", select=ALL)


class Library:
    """f(x): the log-probabilities of what a trace wrote, given the input of the first layer."""

    def __init__(self, folder: Path, trace: Trace) -> None:
        class_ = getattr(hf, TINY[folder.name][0])
        self.model = class_.from_pretrained(folder, attn_implementation="eager").eval()
        self.model.requires_grad_(False)
        encoder = self.model.get_encoder()
        self.first = (encoder.block if hasattr(encoder, "block") else encoder.layers)[0]
        self.ids, self.read = (
            torch.tensor([[token.id for token in trace.texts[text]]])
            for text in ("source", "target")
        )
        self.written = [token.id for token in trace.output.tokens]

    @contextmanager
    def entering(self, x: Tensor | None, seen: list[Tensor]) -> Iterator[None]:
        def enter(_: Any, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
            seen.append(given[0] if given else named["hidden_states"])
            if x is None:
                return None
            return ((x, *given[1:]), named) if given else (given, {**named, "hidden_states": x})

        hook = self.first.register_forward_pre_hook(enter, with_kwargs=True)
        try:
            yield
        finally:
            hook.remove()

    def __call__(self, x: Tensor | None = None, hidden: int | None = None) -> Tensor:
        mask = torch.ones_like(self.ids)
        if hidden is not None:
            mask[0, hidden] = 0
        with self.entering(x, []):
            logits = self.model(
                input_ids=self.ids, attention_mask=mask, decoder_input_ids=self.read
            ).logits[0]
        found: Tensor = logits.log_softmax(-1)[range(len(self.written)), self.written]
        return found

    def entered(self) -> Tensor:
        """Return the input of the first layer (1, S, D)."""
        seen: list[Tensor] = []
        with self.entering(None, seen), torch.no_grad():
            self.model(input_ids=self.ids, decoder_input_ids=self.read)
        return seen[0].detach()

    def integrated(self, x: Tensor, step: Tensor, points: int = 512) -> Tensor:
        """Return ∫ ∂f/∂x · step over the path to x, at very many points (written, S).

        By the midpoint rule over u, with α = u⁴.
        """
        u = (torch.arange(points, dtype=torch.float64) + 0.5) / points
        weights = (4 * u**3 / points).float()[:, None, None]
        read = (x - step) + (u**4).float()[:, None, None] * step
        read.requires_grad_()
        ids, target = (one.expand(points, -1) for one in (self.ids, self.read))
        with self.entering(read, []):
            logits = self.model(
                input_ids=ids, attention_mask=torch.ones_like(ids), decoder_input_ids=target
            ).logits
        f = logits.log_softmax(-1)[:, range(len(self.written)), self.written].sum(0)
        rows = [torch.autograd.grad(one, read, retain_graph=True)[0] for one in f]
        return torch.stack([(weights * row * step).sum((0, -1)) for row in rows])

    def slopes(self, x: Tensor) -> Tensor:
        """Return ∂f/∂x (written, S, D)."""
        found: Tensor = torch.func.jacrev(self)(x)[:, 0]
        return found


def close(a: Tensor, b: Tensor) -> None:
    torch.testing.assert_close(a, b, atol=2e-4, rtol=1e-3)


def found(trace: Trace, name: str) -> Tensor:
    return torch.as_tensor(trace.tensors[name].value)


@pytest.mark.parametrize("name", [*MODELS, *STEEP])
def test_they_are_what_the_librarys_own_model_says(name: str, folders: Path) -> None:
    adapter = opened(folders / name)
    assert "attribution" in adapter.info.capabilities
    [trace] = adapter.run([ASKED])
    library = Library(folders / name, trace)
    x, embedding = library.entered(), found(trace, "source.embedding")
    words = torch.tensor([not token.special for token in trace.texts["source"]])
    assert words.any()
    slopes = library.slopes(x)
    close(found(trace, GRADIENT_INPUT), (slopes * embedding).sum(-1))
    with torch.no_grad():
        plain = library()
        without = torch.stack([library(hidden=at) for at in range(len(words))], dim=1)
    close(found(trace, OCCLUSION), plain[:, None] - without)

    step = embedding * words[:, None]
    with torch.no_grad():
        changed = plain - library(x - step)
    close(found(trace, CHANGE), changed)
    close(found(trace, GAP), found(trace, INTEGRATED).sum(-1) - changed)
    complete = found(trace, GAP).abs() <= tolerance(changed) + 1e-3
    if name == "t5gemma":  # no token stays, and norms of zeros jump at the baseline
        assert not complete.all()
        assert found(trace, INTEGRATED).abs().max() < 20
    else:
        assert complete.all()
        total = library.integrated(x, step)
        torch.testing.assert_close(found(trace, INTEGRATED), total, atol=0.02, rtol=0.03)
    assert found(trace, OCCLUSION).abs().max() > 1e-3


@pytest.mark.parametrize("name", MODELS)
def test_they_are_the_same_alone_in_company_and_padded(
    name: str, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attribution, "STEPS", 5)  # a coarse integral
    adapter = opened(folders / name)
    off = Intervention("encoder.0.self", "zero", 1)
    one = Request(ASKED.source, target=ASKED.target, select=ALL, interventions=(off,))
    others = [Request("Cats.", target="A.", select=ALL), ASKED]
    [alone] = adapter.run([one])
    together = adapter.run([others[0], one, others[1]])[1]
    padded = Request(**{**vars(one), "pad_to": 24})
    [wide] = adapter.run([padded])
    [plain] = adapter.run([ASKED])
    for key in sorted(ATTRIBUTIONS):
        value = found(alone, key)
        assert not torch.allclose(value, found(plain, key), atol=1e-5), "the change counts"
        close(found(together, key), value)
        rows, cols = value.shape[0], value.shape[-1]
        inner = found(wide, key)[:rows] if value.ndim == 1 else found(wide, key)[:rows, :cols]
        close(inner, value)


def test_what_cannot_be_attributed_is_said(folders: Path) -> None:
    long = " ".join(["cat"] * (LONGEST + 1))
    with pytest.raises(InputError, match=f"at most {LONGEST}"):
        opened(folders / "t5").validate(Request(long, target="A.", select=(INTEGRATED,)))
    decoder = opened(folders / "gpt2")
    assert decoder.info.missing["attribution"] == "one-text"
    with pytest.raises(InputError):
        decoder.validate(Request("The cat sat.", select=(OCCLUSION,)))
