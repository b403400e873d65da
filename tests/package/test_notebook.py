"""The notebook of the documentation, run by a real kernel."""

import re
from pathlib import Path

NOTEBOOK = Path(__file__).parents[2] / "docs" / "headlight.ipynb"


def test_it_runs_and_draws() -> None:
    import nbformat  # takes three seconds, which every process of the tests would spend
    from nbclient import NotebookClient

    notebook = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    assert not [one for one in notebook.cells if one.get("outputs")], "kept without its outputs"
    NotebookClient(
        notebook, timeout=300, resources={"metadata": {"path": NOTEBOOK.parents[1]}}
    ).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    figures = [one for one in outputs if "text/html" in one.get("data", ())]
    assert len(figures) == 3
    assert all("<iframe" in one["data"]["text/html"] for one in figures)
    written = "".join(one["text"] for one in outputs if one.output_type == "stream")
    assert "(8, 8, 9)" in written
    assert "猫" in written
    steps = re.findall(r"\(1, 4, (\d+), (\d+)\)", written)
    assert [int(queries) for queries, _ in steps[1:]] == [1, 1]
    assert [int(keys) for _, keys in steps] == [int(steps[0][1]) + step for step in range(3)]
