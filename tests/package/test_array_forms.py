"""The forms in which attention arrives, each compared with the arrays that it was made from."""

from collections import OrderedDict
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from headlight import AttentionWarning, Grid, given
from headlight.arrays import GivenAttention
from tests.package.test_arrays import WORDS, weights


def shown(model: GivenAttention) -> list[np.ndarray[Any, Any]]:
    trace = model.trace("", select="*.weights")
    return [np.asarray(trace[name]) for name in trace]


def said(model: GivenAttention) -> str:
    return " ".join(str(notice) for notice in model.notices)


LAYERS = [weights(1, 3, 6, 6, seed=layer) for layer in range(3)]
STACKED = np.stack([layer[0] for layer in LAYERS])


class Cache:
    """An `ActivationCache`: it has keys and items, and is no dict."""

    def __init__(self, tensors: dict[str, Any]) -> None:
        self.tensors = tensors

    def keys(self) -> Any:
        return self.tensors.keys()

    def items(self) -> Any:
        return self.tensors.items()

    def __getitem__(self, name: str) -> Any:
        return self.tensors[name]


class Jax:
    """An array of a library that only offers `__array__`."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array, self.shape = array, array.shape

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray[Any, Any]:
        return self.array if dtype is None else self.array.astype(dtype)


@pytest.mark.parametrize(
    "form",
    [
        tuple(LAYERS),
        [torch.from_numpy(layer) for layer in LAYERS],
        np.stack(LAYERS),  # (layers, 1, heads, queries, keys)
        SimpleNamespace(attentions=tuple(LAYERS), logits=None),
        OrderedDict(logits=None, attentions=tuple(LAYERS)),
        Cache({f"blocks.{n}.attn.hook_pattern": layer for n, layer in enumerate(LAYERS)}),
        {f"blocks.{n}.attn.hook_pattern": layer for n, layer in enumerate(LAYERS)},
        SimpleNamespace(value=[SimpleNamespace(value=layer) for layer in LAYERS]),
        [Jax(layer) for layer in LAYERS],
    ],
    ids=["tuple", "torch", "stacked", "output", "dict", "cache", "names", "nnsight", "jax"],
)
def test_every_form_has_the_same_arrays(form: Any) -> None:
    np.testing.assert_array_equal(np.stack(shown(given(form, WORDS))), STACKED)


def test_one_stacked_array_says_how_it_was_read() -> None:
    with pytest.warns(AttentionWarning, match="3 layers of 3 heads. If its first axis is a batch"):
        model = given(STACKED, WORDS)
    np.testing.assert_array_equal(np.stack(shown(model)), STACKED)
    with pytest.warns(AttentionWarning, match="one layer of 3 heads"):
        model = given(STACKED[0], WORDS)
    assert model.info.layers == {"encoder": 1}


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_any_type_of_tensor_is_read(dtype: torch.dtype) -> None:
    model = given([torch.from_numpy(layer).to(dtype).requires_grad_() for layer in LAYERS], WORDS)
    np.testing.assert_allclose(np.stack(shown(model)), STACKED, atol=2e-3)


def test_heads_that_were_averaged_are_called_so() -> None:
    x = torch.randn(1, 6, 8, generator=torch.Generator().manual_seed(0))
    attention = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    _, apart = attention(x, x, x, average_attn_weights=False)
    _, averaged = attention(x, x, x)
    model = given([apart], WORDS)
    assert model.info.heads == {"encoder": 2}
    assert not [one for one in model.notices if "average" in str(one)]
    assert "nn.MultiheadAttention averages its heads" in said(given([averaged], WORDS))
    model = given(averaged[0], WORDS)
    np.testing.assert_allclose(shown(model)[0][0], averaged[0].detach(), atol=1e-7)
    assert "averaged over heads" in model.info.name
    assert "the one head is the average over all heads" in said(model)


def test_the_steps_of_generate_are_joined() -> None:
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    config = GPT2Config(n_layer=2, n_head=2, n_embd=8, vocab_size=20, n_positions=32)
    config._attn_implementation = "eager"
    lm = GPT2LMHeadModel(config).eval()
    ids = torch.tensor([[1, 2, 3]])
    for cache in (True, False):
        out = lm.generate(
            ids,
            max_new_tokens=4,
            min_new_tokens=4,
            do_sample=False,
            output_attentions=True,
            return_dict_in_generate=True,
            use_cache=cache,
            pad_token_id=0,
        )
        tokens = [f"t{id_}" for id_ in out.sequences[0].tolist()]
        with torch.no_grad():
            whole = lm(out.sequences[:, :-1], output_attentions=True).attentions
        for form in (out, out.attentions):
            model = given(form, tokens)
            assert model.info.kind == "decoder"
            assert len(model.texts["text"]) == 6  # the seventh was written, never read
            for mine, theirs in zip(shown(model), whole, strict=True):
                np.testing.assert_allclose(mine, theirs[0], atol=1e-6)
            assert "4 passes" in said(model)


def test_generate_of_an_encoder_decoder_is_joined() -> None:
    from transformers import BartConfig, BartForConditionalGeneration

    torch.manual_seed(0)
    config = BartConfig(
        vocab_size=20,
        d_model=8,
        encoder_layers=2,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=8,
        decoder_ffn_dim=8,
        max_position_embeddings=32,
        forced_eos_token_id=None,
    )
    config._attn_implementation = "eager"
    bart = BartForConditionalGeneration(config).eval()
    out = bart.generate(
        torch.tensor([[4, 5, 6, 7]]),
        max_new_tokens=3,
        min_new_tokens=3,
        do_sample=False,
        num_beams=1,
        output_attentions=True,
        return_dict_in_generate=True,
    )
    target = out.sequences[0].tolist()
    with torch.no_grad():
        whole = bart(
            torch.tensor([[4, 5, 6, 7]]),
            decoder_input_ids=out.sequences[:, :-1],
            output_attentions=True,
        )
    tokens = {"source": list("abcd"), "target": [f"t{id_}" for id_ in target]}
    model = given(out, tokens)
    trace = model.trace("", select="*.weights")
    for name, theirs in [
        ("encoder.1.self", whole.encoder_attentions[1]),
        ("decoder.0.self", whole.decoder_attentions[0]),
        ("decoder.0.cross", whole.cross_attentions[0]),
    ]:
        np.testing.assert_allclose(np.asarray(trace[f"{name}.weights"]), theirs[0], atol=1e-6)
    written = model.trace("").output.tokens
    assert [one.text.strip() for one in written] == tokens["target"][1:]


def test_a_sliding_window_is_joined_at_its_place() -> None:
    whole = weights(1, 2, 5, 5, causal=True)
    banded = np.where(np.tri(5, k=-3, dtype=bool), 0, whole)
    banded /= banded.sum(-1, keepdims=True)
    steps = [(banded[:, :, :2, :2],)]
    steps += [(banded[:, :, row : row + 1, max(0, row - 2) : row + 1],) for row in (2, 3, 4)]
    np.testing.assert_array_equal(shown(given(steps, list("abcde")))[0], banded[0])


def test_a_cache_of_fixed_length_is_cut() -> None:
    whole = weights(1, 2, 4, 4, causal=True)
    padded = np.pad(whole, ((0, 0), (0, 0), (0, 0), (0, 3)))
    steps = [(padded[:, :, :2],), (padded[:, :, 2:3],), (padded[:, :, 3:4],)]
    np.testing.assert_array_equal(shown(given(steps, list("abcd")))[0], whole[0])
    padded[..., 2, 6] = 0.5
    with pytest.raises(ValueError, match="step 2 looks at 7 tokens after 3 were read"):
        given(steps, list("abcd"))


def test_layers_can_be_chosen_and_the_figure_says_which() -> None:
    model = given(LAYERS, WORDS, layers=[0, 2])
    np.testing.assert_array_equal(np.stack(shown(model)), STACKED[[0, 2]])
    assert "layers 1, 3 of the model" in said(model)
    assert "of the model" not in said(given(LAYERS, WORDS, layers=[0, 1]))
    with pytest.raises(ValueError, match="there is no layer 3; they count from 0 to 2"):
        given(LAYERS, WORDS, layers=[3])
    nothing: list[Any] = [[], 1]
    for none in nothing:
        with pytest.raises(ValueError, match="it must be a list of layers"):
            given(LAYERS, WORDS, layers=none)
    partly = {f"blocks.{n}.attn.hook_pattern": LAYERS[n] for n in (2, 1)}
    model = given(partly, WORDS)
    np.testing.assert_array_equal(np.stack(shown(model)), STACKED[1:])
    assert "layers 2, 3 of the model" in said(model)


def test_patches_of_a_picture_are_a_grid() -> None:
    model = given([weights(2, 7, 7)], Grid(2, 3))
    tokens = model.texts["text"]
    assert [one.text for one in tokens] == ["[CLS]", "1,1", "1,2", "1,3", "2,1", "2,2", "2,3"]
    assert [one.special for one in tokens] == [True] + [False] * 6
    assert model.text == "2 × 3"
    assert "2 × 3 patches" in said(model)
    assert given([weights(2, 6, 6)], Grid(2, 3)).texts["text"][0].text == "1,1"
    named = given([weights(2, 7, 7)], Grid(2, 3, before=["[REG]"]))
    assert named.texts["text"][0].text == "[REG]"
    with pytest.raises(ValueError, match=r"Grid\(2, 3\) has 6 patches .* the array has 5 tokens"):
        given([weights(2, 5, 5)], Grid(2, 3))


NONE = 'attn_implementation="eager".*headlight.show\\(model, tokenizer, text\\)'


@pytest.mark.parametrize(
    "form",
    [
        None,
        (None, None),
        [],
        SimpleNamespace(attentions=None),
        OrderedDict(attentions=()),
        [(None, None)],
        {"encoder": None},
    ],
)
def test_no_attentions_at_all_says_how_to_get_them(form: Any) -> None:
    tokens = {"source": WORDS} if isinstance(form, dict) and "encoder" in form else WORDS
    with pytest.raises(ValueError, match=NONE):
        given(form, tokens)


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ([weights(2, 3, 6, 6)], r"layer 1 has shape \(2, 3, 6, 6\): a batch of 2.*a\[0\] for a in"),
        (np.stack([weights(2, 3, 6, 6)] * 2), r"batch of 2.*attentions\[:, 0\]"),
        ([LAYERS[0], None], r"layer 2 is None.*if a is not None"),
        ([(weights(2, 1, 3, 3),), (weights(2, 1, 1, 4),)], r"batch of 2.*beams.*layer\[:1\]"),
        ({"blocks.0.hook_resid_pre": LAYERS[0]}, "hook_pattern in names_filter"),
        ([np.full((1, 6, 6), "a")], "layer 1 is not an array of numbers"),
        ([torch.empty(1, 6, 6, device="meta")], "device meta"),
        ([0.9, 0.1], r"layer 1 has shape \(\); it must be \(heads, queries, keys\)"),
        (
            [torch.nested.nested_tensor([torch.ones(6, 6)], layout=torch.jagged)],
            r"nested tensor.*tensor\.unbind",
        ),
        ([np.ma.masked_less(LAYERS[0], 0.1)], r"masked array.*array\.filled\(0\)"),
        ({0: LAYERS[0], 1: LAYERS[1]}, r"A dict of layers.*list\(attentions\.values\(\)\)"),
        (
            torch.nn.MultiheadAttention(8, 2, batch_first=True)(*[torch.rand(1, 6, 8)] * 3),
            r"its output, then its weights.*attentions\[1\]",
        ),
    ],
)
def test_a_form_that_has_no_single_text_says_what_to_do(form: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        given(form, WORDS)


def test_what_is_no_attention_is_a_type_error() -> None:
    for form in (3, "a sentence", object()):
        with pytest.raises(TypeError, match="needed are a list with an array for each layer"):
            given(form, WORDS)
