"""The adapter of this repository's Transformer.

description              its table of attentions, what adds to its streams, how it computes scores
passes                   requests as rows of tokens, decoded, and one pass of a batch, recorded
drafts                   greedy decoding by drafts of a faster decoder, which a pass verifies
encoder_decoder_adapter  `EncoderDecoder`: all of it as an `Adapter`
"""
