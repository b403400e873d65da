"""Rules about files, and tests that check them for each file."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]


def files(folder: str, suffix: str) -> list[Path]:
    found = sorted((ROOT / folder).rglob(f"*{suffix}"))
    assert found, f"nothing in {folder}/"
    return found


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


Rule = Callable[[Path], Iterable[object]]


def for_each(paths: Sequence[Path]) -> Callable[[Rule], Callable[[], None]]:
    """Make a test of a rule that yields the violations in a file; the test lists all of them."""

    def test_of(rule: Rule) -> Callable[[], None]:
        def test() -> None:
            wrong = [f"{name(path)}: {found}" for path in paths for found in rule(path)]
            assert not wrong, "\n".join(wrong)

        test.__doc__ = rule.__doc__
        return test

    return test_of
