"""Adapters, which turn a request into a trace, for any model.

`requests` has what all adapters share, `encoder_decoder` is that of this repository's Transformer,
`huggingface` that of the `transformers` library. A sweep makes one request after the other.
"""
