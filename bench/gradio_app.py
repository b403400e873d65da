"""The page's first request as a Gradio app: from a sentence to the translation and all weights.

Run it with an interpreter that has Gradio: `python bench/gradio_app.py PORT`.
"""

import sys
from typing import Any

import gradio

from model import load

model = load("en-zh", "cpu")


def see(source: str) -> dict[str, Any]:
    """Return the same as `/api/trace` with `"select": ["*.weights"]`."""
    trace = model.trace(source, select=["*.weights"])
    weights = {name: tensor.value.tolist() for name, tensor in trace.tensors.items()}
    return {"text": trace.output.text, "tensors": weights}


gradio.Interface(see, "text", "json", api_name="see").queue(
    default_concurrency_limit=2, max_size=None
).launch(server_name="127.0.0.1", server_port=int(sys.argv[1]), quiet=True)
