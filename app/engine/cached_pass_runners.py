"""Records which runner caches which passes over long texts, to send later views there."""

from app.engine.runners import Runner

MOST = 1_000  # passes remembered of a runner that stands for several processes


class CachedPassRunners:
    """The runner of each pass, as far as known; if it is wrong, the pass is run again."""

    def __init__(self) -> None:
        self._kept: dict[Runner, frozenset[str]] = {}
        self._running: dict[str, Runner] = {}

    def is_kept(self, key: str) -> bool:
        """Return whether a runner has cached the pass."""
        return any(key in keys for keys in self._kept.values())

    def home(self, key: str) -> Runner | None:
        """Return the runner that has cached or is running the pass."""
        making = self._running.get(key)
        return making or next((runner for runner, keys in self._kept.items() if key in keys), None)

    def start(self, key: str, runner: Runner) -> None:
        """Record that a runner is running the pass, unless it has cached it."""
        if key not in self._kept.get(runner, ()):
            self._running[key] = runner

    def end(self, key: str, runner: Runner, kept_keys: frozenset[str] | None) -> None:
        """Record the passes that a runner has cached after its work; None if unknown.

        One that stands for several processes tells only about the process that did this work.
        """
        self._running.pop(key, None)
        if kept_keys is None:
            return
        if runner.many:
            remembered = self._kept.get(runner, frozenset())
            other_keys = remembered - {key} if len(remembered) < MOST else frozenset()
            kept_keys = other_keys | (kept_keys & {key})
        self._kept[runner] = kept_keys

    def lose(self, runner: Runner) -> None:
        """Record that a runner has crashed and lost its passes."""
        self._kept.pop(runner, None)
        self._running = {key: home for key, home in self._running.items() if home is not runner}
