"""`python -m model`: one command line, with fast and complete help."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from model.__main__ import COMMANDS, main
from model.commands.arguments import Command
from model.errors import FileError

DOCS = "".join(path.read_text() for path in Path(__file__).parents[2].glob("docs/*.md"))


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_help_and_is_documented(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*name.split(), "--help"])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert said.startswith(f"usage: python -m model {name} ")
    assert f"python -m model {name} " in said.partition("\n\n")[2], "its docstring has an example"
    assert f"python -m model {name} " in DOCS


def test_every_class_is_a_command() -> None:
    for group, file in (("", "models"), ("measure ", "measure"), ("zoo ", "zoo")):
        module = import_module(f"model.commands.{file}").__name__
        commands = Command.__subclasses__()
        classes = {one.__name__ for one in commands if one.__module__ == module}
        names = (name.removeprefix(group) for name in COMMANDS if name.startswith(group))
        assert classes == {
            "".join(map(str.capitalize, name.split("-"))) for name in names if " " not in name
        }


def test_the_overview_waits_for_no_torch() -> None:
    code = (
        "import sys, model.__main__ as entry\n"
        "try: entry.main(['measure', '--help'])\n"
        "except SystemExit: print('torch' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "False"
    assert all(name.split()[1] in ran.stdout for name in COMMANDS if name.startswith("measure "))


@pytest.mark.parametrize("line", [[], ["measure"], ["dance"], ["measure", "dance"]])
def test_a_missing_command_prints_usage(
    line: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(line)
    assert ended.value.code == 2
    assert "usage: python -m model" in capsys.readouterr().err


def test_only_variants_hand_options_on(tmp_path: Path) -> None:
    """In other commands, arguments after `--` are positional, as usual."""
    with pytest.raises(FileError, match="--one: it is not a model bundle"):
        main(["average", str(tmp_path), "--", "--one"])
