"""The mean of bundles."""

import json
import shutil
from pathlib import Path

import pytest
import torch

from model.__main__ import main
from model.bundle.weights import load_bundle, save_bundle


def test_the_mean_of_bundles(bundle: Path, tmp_path: Path) -> None:
    """Average three by hand; the training record is that of the first."""
    base = load_bundle(bundle)
    state = base.model.state_dict()
    for name, times in (("one", 1.0), ("two", 2.0), ("six", 6.0)):
        weights = {key: value * times for key, value in state.items()}
        save_bundle(
            tmp_path / name, weights, base.model.config, base.tokenizer, name, torch.float32
        )
        (tmp_path / name / "training.json").write_text(json.dumps({"step": times}))
    main(
        [
            "average",
            str(tmp_path / "soup"),
            *(str(tmp_path / name) for name in ("two", "one", "six")),
        ]
    )
    soup = load_bundle(tmp_path / "soup")
    assert soup.name == "two"
    assert json.loads((tmp_path / "soup" / "training.json").read_text()) == {"step": 2.0}
    for key, value in soup.model.state_dict().items():
        torch.testing.assert_close(value, state[key] * 3, rtol=1e-3, atol=1e-3)  # stored in halves


def test_bundles_that_cannot_be_averaged_are_refused(bundle: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(bundle, other)
    (other / "SHA256SUMS").unlink()
    config = json.loads((other / "config.json").read_text())
    config["config"]["heads"] = 2
    (other / "config.json").write_text(json.dumps(config))
    with pytest.raises(ValueError, match=r"other has another shape or vocabulary than .*tiny"):
        main(["average", str(tmp_path / "soup"), str(bundle), str(other)])
    assert not (tmp_path / "soup").exists()
