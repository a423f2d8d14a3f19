"""List and watch: keeps a few objects of the API server up to date in the background, and stops at once when told."""

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

import requests
import urllib3

from lab.plugins.kubernetes.client import ApiError, Client, Stream, Unreachable
from lab.plugins.kubernetes.objects import Object, dig, items_of

_WATCH_SECONDS = 240  # the server ends a watch after that; the next one goes on where it ended
_LONGEST_PAUSE = 2.0


class Cancellation:
    """Set once, when the engine calls Cancel; whoever waits hears of it."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._waiting: set[Callable[[], None]] = set()
        self._lock = threading.Lock()

    @property
    def cancelled(self) -> bool:
        return self._event.is_set()

    def cancel(self) -> None:
        self._event.set()
        with self._lock:
            waiting = list(self._waiting)
        for wake in waiting:
            wake()

    def pause(self, seconds: float) -> bool:
        """Wait that long; False if cancelled meanwhile."""
        return not self._event.wait(seconds)

    @contextmanager
    def wakes(self, wake: Callable[[], None]) -> Iterator[None]:
        """Call `wake` on cancellation, as long as the block runs."""
        with self._lock:
            self._waiting.add(wake)
        try:
            yield
        finally:
            with self._lock:
                self._waiting.discard(wake)


class Feed:
    """The objects of one selection, kept current by a thread from `with` to its end.

    `changed` is called after each change. Lost connections and expired versions are mended here: it watches on from the
    last version seen, and lists again when the server has forgotten it.
    """

    def __init__(self, client: Client, path: str, changed: Callable[[], None], **selectors: str) -> None:
        self._client = client
        self._path = path
        self._changed = changed
        self._selectors = selectors
        self._objects: dict[str, Object] = {}
        self._deleted: Object | None = None
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._stream: Stream | None = None
        self._listed = False
        self.refused: ApiError | None = None
        self.lost: str | None = None

    def __enter__(self) -> Self:
        threading.Thread(target=self._run, name=f"watch {self._path}", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stopped.set()
        with self._lock:
            stream = self._stream
        if stream:
            stream.close()

    @property
    def listed(self) -> bool:
        """Whether the API server has answered, so that an empty selection means that there is nothing."""
        return self._listed

    def all(self) -> list[Object]:
        with self._lock:
            return list(self._objects.values())

    def last_deleted(self) -> Object | None:
        """The last state of the object that went away most recently."""
        with self._lock:
            return self._deleted

    def _run(self) -> None:
        pause = 0.05
        while not self._stopped.is_set():
            try:
                version = self._list()
                pause = 0.05
                while version and not self._stopped.is_set():
                    version = self._watch(version)
            except ApiError as error:
                if error.status in (401, 403, 404, 405):
                    self.refused = error
                    self._changed()
                    return
                self._trouble(error.message)
            except (Unreachable, requests.RequestException, urllib3.exceptions.HTTPError, OSError, ValueError) as error:
                self._trouble(str(error))
            self._stopped.wait(pause * random.uniform(0.5, 1.5))  # noqa: S311  not a secret
            pause = min(pause * 2, _LONGEST_PAUSE)

    def _trouble(self, why: str) -> None:
        if not self._stopped.is_set():
            self.lost = why
            self._changed()

    def _list(self) -> str:
        """Take stock; returns the version to watch from."""
        listed = self._client.get(self._path, **self._selectors)
        objects = {dig(item, "metadata", "uid", default=""): item for item in items_of(listed)}
        with self._lock:
            gone = [item for uid, item in self._objects.items() if uid not in objects]
            self._deleted = gone[-1] if gone else self._deleted
            self._objects = objects
        self.lost = None
        self._listed = True
        self._changed()
        return dig(listed, "metadata", "resourceVersion", default="")

    def _watch(self, version: str) -> str:
        """Follow the changes since `version`; returns where the next watch goes on, or nothing to list again."""
        stream = self._client.watch(
            self._path,
            resourceVersion=version,
            allowWatchBookmarks="true",
            timeoutSeconds=str(_WATCH_SECONDS),
            **self._selectors,
        )
        with self._lock:
            self._stream = stream
        if self._stopped.is_set():  # it may have been set just before there was a stream to close
            stream.close()
        for event in stream:
            if event["type"] == "ERROR":
                return ""  # 410 Gone most of all: the version is too old
            version = dig(event, "object", "metadata", "resourceVersion", default=version)
            if event["type"] != "BOOKMARK":
                self._take(event["type"], event["object"])
        return version

    def _take(self, kind: str, obj: Object) -> None:
        uid = dig(obj, "metadata", "uid", default="")
        with self._lock:
            if kind == "DELETED":
                self._objects.pop(uid, None)
                self._deleted = obj
            else:
                self._objects[uid] = obj
        self._changed()
