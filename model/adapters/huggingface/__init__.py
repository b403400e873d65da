"""Models of the `transformers` library behind the `Adapter` interface (docs/huggingface.md).

Needs `requirements-hf.txt`; nothing else in the project imports `transformers`.
"""
