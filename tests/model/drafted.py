"""Helpers to compare results with and without drafts."""

from collections.abc import Sequence

import numpy as np
import torch

from model.adapters.encoder_decoder.drafts import Drafter
from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.adapters.requests.request import Request
from model.adapters.requests.trace import Trace
from model.bundle.weights import Bundle

SENTENCES = [
    "Hi.",
    "The old animal didn't cross the street because it was too tired.",
    "I don't know who she is.",
    "Two children are playing with a red ball in front of the house while it rains.",
    "There is a book about the history of trains, and nobody has ever read it to the end.",
    "How much is this?",
    "你好。",
    "我不知道她是谁。",
    "两个孩子在房子前面玩一个红色的球，天在下雨。",
    "请给我一杯茶，不要糖。",
    "这本书我看了三遍，还是不明白它在说什么。",
    "他说他明天会来，可是我不相信。",
]
CLOSE = 1e-5
SELECT = ("*.weights", "decoder.logits")


def answers(bundle: Bundle, requests: Sequence[Request], by: Drafter | None = None) -> list[Trace]:
    """Return the results of a new adapter, which has nothing cached."""
    return EncoderDecoder(bundle, "model", None, by).run(requests)


def assert_same(traces: Sequence[Trace], others: Sequence[Trace]) -> None:
    for one, other in zip(traces, others, strict=True):
        assert one.texts == other.texts
        assert one.output.tokens == other.output.tokens
        assert one.output.ranks == other.output.ranks
        assert one.output.text == other.output.text
        np.testing.assert_allclose(one.output.logprobs, other.output.logprobs, atol=CLOSE)
        assert list(one.tensors) == list(other.tensors)
        for name in one:
            torch.testing.assert_close(one[name].value, other[name].value, atol=CLOSE, rtol=CLOSE)


def one_by_one(
    bundle: Bundle, requests: Sequence[Request], by: Drafter | None = None
) -> list[Trace]:
    return [trace for request in requests for trace in answers(bundle, [request], by)]
