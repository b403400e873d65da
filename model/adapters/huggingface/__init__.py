"""Models of the `transformers` library behind the one trace (docs/huggingface.md).

Needs `requirements-hf.txt`; nothing else in the project imports `transformers`.
"""
