"""Every way in which given arrays are wrong: refused, or said in the figure."""

from html import unescape
from typing import Any

import numpy as np
import pytest
import torch

from headlight import AttentionWarning, given, show
from tests.package.test_arrays import WORDS, weights

PLACE = "[Ll]ayer 2, head 3, row 4 “able”"


def layers(change: Any = None) -> list[np.ndarray[Any, Any]]:
    """Return two layers of three heads, the second one changed at head 3, row 4."""
    arrays = [weights(3, 6, 6, seed=layer) for layer in range(2)]
    if change is not None:
        arrays[1][2, 3] = change
    return arrays


def refused(arrays: Any, said: str, tokens: Any = WORDS) -> None:
    with pytest.raises(ValueError, match=said):
        given(arrays, tokens)


def doubted(arrays: Any, said: str) -> None:
    """The doubt is a Python warning, and a notice that stays in the file."""
    with pytest.warns(AttentionWarning, match=said):
        model = given(arrays, WORDS)
    assert [one for one in model.notices if one.doubt]
    with pytest.warns(AttentionWarning):
        file = show(arrays, WORDS).html.decode()
    assert '<li class="doubt">' in file


def test_right_arrays_have_no_doubts() -> None:
    for arrays in (layers(), [one.astype(np.float16) for one in layers()]):
        assert not [one for one in given(arrays, WORDS).notices if one.doubt]


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_nan_and_infinity_are_refused(value: float) -> None:
    refused(layers([0, 0, value, 0, 0, 1]), f"{PLACE} has a weight that is {value}.*padding")


def test_masked_scores_are_refused_as_scores() -> None:
    refused(layers([0, 0, -np.inf, 0, 0, 1]), f"{PLACE} has a weight that is -inf.*softmax")


def test_negative_weights_are_refused_as_scores() -> None:
    refused(layers([-1.5, 2, 0, 0, 0.5, 0]), rf"{PLACE} has a weight of -1\.5.*softmax")


def test_rounding_below_zero_is_none() -> None:
    assert given(layers([-1e-5, 1, 1e-5, 0, 0, 0]), WORDS).notices


def test_a_scale_is_refused_and_named() -> None:
    refused([one * 100 for one in layers()], "layer 1, head 1, row 1 .* sums to 100.*divide by 100")
    refused([one / 2 for one in layers()], r"sums to 0\.5.*divide by 0\.5")


def test_dropout_is_said() -> None:
    dropout = torch.nn.Dropout(0.3)
    torch.manual_seed(0)
    doubted([dropout(torch.from_numpy(one)) for one in layers()], r"dropout .* model\.eval\(\)")


def test_rows_with_missing_keys_are_said() -> None:
    doubted(layers([0.5, 0.2, 0, 0, 0, 0]), rf"{PLACE} sums to 0\.70, .* 1 rows in all")


def test_a_notice_is_in_the_figure_in_its_language() -> None:
    with pytest.warns(AttentionWarning):
        file = show(layers([0] * 6), WORDS, lang="zh").html.decode()
    assert "全为 0" in unescape(file)


def test_rows_of_zeros_are_said() -> None:
    doubted(layers([0] * 6), f"{PLACE} has only zeros, and so have 1 rows in all")


def test_a_row_of_a_newline_has_a_name() -> None:
    tokens = [*"abc", "\n", *"de"]
    refused(layers([np.nan] * 6), r"head 3, row 4 “\\n” has a weight that is nan", tokens)


def test_columns_that_are_places_in_a_window_are_doubted() -> None:
    """Five tokens and a window of five: the shape is that of attention between tokens."""
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = transformers.LongformerConfig(
        vocab_size=20,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        attention_window=4,
        max_position_embeddings=20,
    )
    model = transformers.LongformerModel(config).eval()
    output = model(torch.tensor([[5, 6, 7, 8, 9]]), output_attentions=True)
    with pytest.warns(AttentionWarning, match="places in a window"):
        model = given(output.attentions, list("abcde"))
    assert [notice for notice in model.notices if notice.doubt]
    output["global_attentions"] = (torch.zeros(1, 2, 5, 1),) * 2
    with pytest.raises(ValueError, match=r"a column is a place in each query's window"):
        given(output, list("abcde"))


def test_nothing_but_zeros_is_refused() -> None:
    refused([np.zeros((2, 6, 6))], "all weights are 0")


def test_rows_that_sum_to_more_are_refused() -> None:
    refused(layers([1, 1, 0, 0, 0, 0.5]), rf"{PLACE} sums to 2\.5; .*softmax over the keys")


def test_a_softmax_over_the_queries_is_refused() -> None:
    refused([one.swapaxes(-1, -2) for one in layers()], r"The columns do.*swapaxes\(-1, -2\)")


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ((3, 8, 8), "2 more than there are tokens, probably special ones"),
        ((3, 12, 12), r"padding, cut it off: array\[\.\.\., :6, :6\]"),
        ((3, 5, 5), "the last token was probably written and never read"),
        ((6, 6, 3), r"its heads come last; use array\.transpose\(2, 0, 1\)"),
        ((0, 6, 6), "it has no head"),
        ((1, 6, 32), "hidden states, is no attention"),
        ((3, 6, 4), "without padding"),
    ],
)
def test_a_size_that_does_not_fit_says_why(shape: tuple[int, ...], said: str) -> None:
    refused([np.full(shape, 1 / shape[-1], np.float32)], f"must be \\(heads, 6, 6\\).*{said}")


def test_exchanged_texts_are_said() -> None:
    tokens = {"source": list("abc"), "target": list("de")}
    refused({"cross": [weights(2, 3, 2)]}, "queries and keys are swapped", tokens)
