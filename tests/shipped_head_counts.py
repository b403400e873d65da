"""How many heads the shipped model has, for tests that count them."""

import json

from model.bundle.weights import CHECKPOINTS
from model.transformer.config import ModelConfig

SHIPPED = ModelConfig.from_json(
    json.loads((CHECKPOINTS / "en-zh" / "config.json").read_text())["config"]
)
IN_ENCODER, IN_DECODER = (SHIPPED.heads_of[stack] for stack in ("encoder", "decoder"))  # a layer's
IN_ALL = SHIPPED.encoder_layers * IN_ENCODER + 2 * SHIPPED.decoder_layers * IN_DECODER
