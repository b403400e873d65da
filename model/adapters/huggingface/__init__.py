"""Models of the `transformers` library behind the `Adapter` interface (docs/huggingface.md).

Needs `requirements-hf.txt`; nothing else in the project imports `transformers`. Architectures are
never told apart by name: a model is run on a few tokens, and what it does is found by comparing
numbers. The files, in the order in which a model is opened, run, recorded and explained:

    opened      hub                 a model of a hub: its folder in the cache, downloaded if allowed
                open_folder         a folder checked and loaded without running code in it
                unsupported_models  what is said of a model that cannot be served
                tokenizer           text to tokens with their places, and back; a turn of a chat
                recorded_attention  the function that `transformers` calls in place of its own
                attention_probing   which attentions there are, by running a few tokens both ways
    explained   stream_modules      which modules add to the residual stream
                projections         how q, k and v come from it; rotary positions
                parameters          matrices and vectors of attentions and networks, by name
    recorded    stream_hooks        the residual stream passed through the tap
    run         forward_passes      of a batch, each row with a recorder; of one long text
                batch_rows          requests as rows of a batch, their checks, and padding
                decoding            writing step by step, and what a row of one text predicts
    explained   explaining          logits and scores as sums; the tensors `inside.…`
    together    huggingface_adapter `HuggingFace`: all of it as an `Adapter`, and its description
                models_in_memory    a user's own model: wrapped, or recorded while the user runs it
"""
