"""Time that passes only when somebody waits."""

import heapq
import itertools
from collections.abc import Callable
from time import gmtime, strftime

START = 1_800_000_000.0  # 2027-01-15T08:00:00 UTC
PATIENCE = 100


class Clock:
    """In place of the module `time`: a wait is over at once, and what was to happen meanwhile has happened."""

    def __init__(self) -> None:
        self.now = START
        self._coming: list[tuple[float, int, Callable[[], object]]] = []
        self._numbers = itertools.count()
        self._idle = 0

    def after(self, seconds: float, do: Callable[[], object]) -> None:
        heapq.heappush(self._coming, (self.now + seconds, next(self._numbers), do))

    def sleep(self, seconds: float) -> None:
        until = self.now + seconds
        if self._idle > PATIENCE:  # nothing happens by itself before that, and looking again takes time here too
            until = max(until, min([self.now + 20, *(each[0] for each in self._coming)]))
        assert until < START + 86_400, "somebody waits for what never comes"
        self._idle += 1
        while self._coming and self._coming[0][0] <= until:
            self.now, _, do = heapq.heappop(self._coming)
            self._idle = 0
            do()
        self.now = max(self.now, until)

    def time(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now

    localtime = staticmethod(gmtime)
    strftime = staticmethod(strftime)

    def written(self, skew: float = 0) -> str:
        """As daemons and Kubernetes write it, but for the zone."""
        return strftime("%Y-%m-%dT%H:%M:%S", gmtime(self.now + skew))
