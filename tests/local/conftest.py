"""What the tests of the page's own model share."""

import pytest

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder, load


@pytest.fixture(scope="session")
def served() -> EncoderDecoder:
    return load("en-zh", "cpu")
