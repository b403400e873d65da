"""The adapter of this repository's Transformer.

description  its table of attentions, what adds to its streams, how it computes scores
passes       requests as rows of tokens, and one pass of a batch in two halves, recorded
decoding     the targets of a batch, all at once or step by step
drafts       greedy decoding by drafts of a faster decoder, which a pass verifies
adapter      `EncoderDecoder`: all of it as an `Adapter`
"""
