"""Multiplications of a decoder, counted while it writes."""

import torch
from torch.utils.flop_counter import FlopCounterMode

from model import Adapter
from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.decode.greedy_and_sampling import Reader


def multiplications(adapter: Adapter, source: str, *, cached: bool) -> int:
    """Return those of the decoder's layers to write the translation of a sentence greedily.

    What the encoder and the vocabulary take is left out: it is the same in both ways.
    """
    assert isinstance(adapter, EncoderDecoder)
    trace = adapter.trace(source, select=[])
    ids = torch.tensor([[token.id for token in trace.texts["source"]]])
    real = torch.ones_like(ids, dtype=torch.bool)
    model, tokenizer = adapter.model, adapter.tokenizer
    flops = 0
    with torch.inference_mode():
        reader = Reader(model, tokenizer, ids, real, cached=cached)
        for token in trace.output.tokens:
            with FlopCounterMode(display=False) as counter:
                logprobs = reader.logprobs()
            assert int(logprobs[0].argmax()) == token.id
            flops += int(counter.get_total_flops())
            reader.append(torch.tensor([token.id]))
    vocabulary = len(trace.output.tokens) * model.config.vocabulary * model.config.d_model
    return flops // 2 - vocabulary  # a multiplication and a sum are two operations
