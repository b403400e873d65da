"""A model's attention as a page of BertViz, for `bench.peers`.

Run it with an interpreter that has BertViz: `python bench/bertviz_page.py MODEL TEXT PAGE`.
"""

import sys
from pathlib import Path

import torch
from bertviz import model_view  # type: ignore[import-not-found]
from transformers import AutoModel, AutoTokenizer

folder, text, page = sys.argv[1:]
words = AutoTokenizer.from_pretrained(folder)
model = AutoModel.from_pretrained(folder, attn_implementation="eager", output_attentions=True)
read = words(text, return_tensors="pt")
with torch.inference_mode():
    seen = model(**read).attentions
tokens = words.convert_ids_to_tokens(read["input_ids"][0])
Path(page).write_text(model_view(seen, tokens, html_action="return").data)
