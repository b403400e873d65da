"""Multiplications of a decoder, counted while it writes."""

import torch
from torch.utils.flop_counter import FlopCounterMode

from model import Adapter
from model.decode.search import Reader


def multiplications(adapter: Adapter, source: str, *, cached: bool) -> int:
    """Return those of the decoder's layers to write the translation of a sentence greedily.

    What the encoder and the vocabulary take is left out: it is the same in both ways.
    """
    written = [one.id for one in adapter.trace(source, select=[]).output.tokens]
    read = adapter.trace(source, select=[]).texts["source"]
    ids = torch.tensor([[one.id for one in read]])
    with torch.inference_mode():
        reader = Reader(
            adapter.model,
            adapter.tokenizer,
            ids,
            torch.ones_like(ids, dtype=torch.bool),
            cached=cached,
        )
        count = 0
        for id_ in written:
            with FlopCounterMode(display=False) as counter:
                logprobs = reader.logprobs()
            assert int(logprobs[0].argmax()) == id_
            count += counter.get_total_flops() // 2  # of a product and a sum
            reader.append(torch.tensor([id_]))
    return count - len(written) * adapter.model.config.vocabulary * adapter.model.config.d_model
