"""Which runner keeps which passes over long texts, so that the next look at one goes there."""

from app.engine.runners import Runner


class PassHomes:
    """The runner of each pass, as far as it is known; if it is wrong, the pass is run again."""

    def __init__(self) -> None:
        self._kept: dict[Runner, frozenset[str]] = {}
        self._running: dict[str, Runner] = {}

    def is_kept(self, key: str) -> bool:
        """Return whether some runner keeps the pass."""
        return any(key in keys for keys in self._kept.values())

    def home(self, key: str) -> Runner | None:
        """Return the runner that keeps or is making the pass."""
        making = self._running.get(key)
        return making or next((one for one, keys in self._kept.items() if key in keys), None)

    def start(self, key: str, runner: Runner) -> None:
        """Note that a runner is making the pass, unless it keeps it."""
        if key not in self._kept.get(runner, ()):
            self._running[key] = runner

    def end(self, key: str, runner: Runner, kept: frozenset[str] | None) -> None:
        """Note what a runner keeps after its work; None if that is not known."""
        self._running.pop(key, None)
        if kept is not None:
            self._kept[runner] = kept

    def lose(self, runner: Runner) -> None:
        """Note that a runner has crashed, with all it kept."""
        self._kept.pop(runner, None)
        self._running = {key: one for key, one in self._running.items() if one is not runner}
