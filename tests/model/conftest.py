"""Fixtures: a small model that trains and runs quickly, with the real bundle format."""

from pathlib import Path
from shutil import copytree

import pytest
import torch
from filelock import FileLock

from model.adapters.encoder_decoder.drafts import Drafter, open_drafter
from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.adapters.requests.request import Request
from model.adapters.requests.trace import Trace
from model.bundle.weights import CHECKPOINTS, TRAINING, Bundle, load_bundle, save_bundle
from model.text.tokens import Tokenizer
from model.transformer.config import ModelConfig
from model.transformer.stacks import Transformer
from tests.model.counting import COUNTING, SHAPE, train, write_pairs
from tests.model.drafted import SELECT, SENTENCES, one_by_one

TEXTS = [
    "The cat sat on the mat.",
    "A dog ran after the cat, and it didn't stop.",
    "I don't know who she is.",
    "猫坐在垫子上。",
    "一只狗追着猫跑，它没有停下来。",
    "我不知道她是谁。",
]


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    return Tokenizer.train(TEXTS * 3, vocabulary=400)


@pytest.fixture(scope="session")
def config(tokenizer: Tokenizer) -> ModelConfig:
    return ModelConfig(
        vocabulary=len(tokenizer),
        d_model=32,
        heads=4,
        d_ff=64,
        encoder_layers=2,
        decoder_layers=2,
        max_tokens=64,
    )


@pytest.fixture(scope="module")
def model(config: ModelConfig) -> Transformer:
    """A random model with weights so large that its output varies from token to token."""
    torch.manual_seed(3)
    model = Transformer(config).eval()
    torch.nn.init.normal_(model.embedding.weight, std=0.5)
    return model


@pytest.fixture(scope="session")
def bundle(
    tokenizer: Tokenizer, config: ModelConfig, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("bundle") / "tiny"
    save_bundle(folder, Transformer(config).state_dict(), config, tokenizer, "Tiny")
    return folder


@pytest.fixture(scope="session")
def tiny(bundle: Path) -> EncoderDecoder:
    return EncoderDecoder(load_bundle(bundle), "tiny")


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where tiny models of `transformers` are saved, each in a folder of its name, read-only."""
    return tmp_path_factory.mktemp("hf")


@pytest.fixture(scope="session")
def shared(common: Path) -> Path:
    """The folder in which a model learns to count, once for all processes."""
    folder = common / "counting"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def data(shared: Path) -> list[str]:
    """Training and dev data, as options for `python -m model train`."""
    with FileLock(shared / "data.lock"):
        return write_pairs(shared)


@pytest.fixture(scope="session")
def learnt(shared: Path, data: list[str]) -> Path:
    """The folder of a run that has learned to count, read-only; trained once for all tests."""
    with FileLock(shared / "run.lock"):
        if not (shared / "run" / "bundle" / TRAINING).is_file():
            train([str(shared / "run"), *data, *COUNTING, *SHAPE])
    return shared / "run"


@pytest.fixture
def counted(learnt: Path, tmp_path: Path) -> Path:
    """A copy of that run, which a test may change."""
    return Path(copytree(learnt, tmp_path / "counted"))


@pytest.fixture(scope="session")
def cache(server_cache: Path) -> Path:
    return server_cache / "drafts"


@pytest.fixture(scope="session")
def shipped() -> Bundle:
    return load_bundle(CHECKPOINTS / "en-zh")


@pytest.fixture(scope="session")
def drafter(shipped: Bundle, cache: Path) -> Drafter:
    opened = open_drafter(shipped, cache)
    assert opened
    return opened


@pytest.fixture(scope="session")
def alone(shipped: Bundle) -> list[Trace]:
    """The traces of the sentences, decoded one by one."""
    return one_by_one(shipped, [Request(source, select=SELECT) for source in SENTENCES])
