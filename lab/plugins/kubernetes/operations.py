"""Create, update and delete one object on the API server, and wait until that has taken effect."""

from collections.abc import Callable
from dataclasses import dataclass

from lab.plugins.kubernetes import ownership, wishes
from lab.plugins.kubernetes.applying import AlreadyExists, Applied, apply, merge_patch, post
from lab.plugins.kubernetes.client import JSON_PATCH, ApiError
from lab.plugins.kubernetes.cluster import Cluster
from lab.plugins.kubernetes.diff import parse
from lab.plugins.kubernetes.discovery import NoSuchKind
from lab.plugins.kubernetes.objects import Object, dig, is_true, kind_of, name_of, namespace_of, title
from lab.plugins.kubernetes.options import Options
from lab.plugins.kubernetes.waiting import NotReady, Report, readiness, until_gone, until_ready
from lab.plugins.kubernetes.watching import Cancellation

_DELETE_SECONDS = 600.0
_ADOPTION_TRIES = 5
# How long to be patient with a namespace or a CustomResourceDefinition that is being created at the same time.
_PAUSES = (0.1, 0.2, 0.4, 0.8, 1.5, 3.0, 4.0, 5.0)


class StillThere(Exception):  # noqa: N818
    """The object's predecessor of the same name has not gone, so that it could not be created."""


class Cancelled(Exception):  # noqa: N818
    """The engine asked to stop before anything was changed."""


@dataclass(frozen=True)
class Operation:
    """One resource operation: where, with which settings, how long, and whom to tell."""

    cluster: Cluster
    options: Options
    cancellation: Cancellation
    report: Report
    seconds: float = 0.0

    def create(self, inputs: Object, manager: str) -> Object:
        """Create the object and wait for it; it exists if `NotReady` is raised, and does not after other errors."""
        created = self._patiently(lambda: self._create(inputs, manager))
        return self._await(created, inputs)

    def update(self, old_inputs: Object, inputs: Object, manager: str, old_manager: str, ignored: list[str]) -> Object:
        """Apply the inputs to the live object and wait for it."""
        live = self._live(inputs)
        if not self.options.server_side_apply:
            updated = merge_patch(self.cluster, old_inputs, inputs, manager)
        else:
            live = self._adopt(live, inputs, manager)
            updated = apply(self.cluster, leave(inputs, live, manager, ignored), manager, force=self.forces(inputs))
            if old_manager and old_manager != manager:
                self._relinquish(inputs, old_manager)
        return self._await(updated, inputs)

    def preview_update(self, old_inputs: Object, inputs: Object, manager: str, ignored: list[str]) -> Object | None:
        """What an update would make of the object, as the API server has it; None if its kind is gone."""
        if not self.cluster.discovery.exists(inputs):
            return None
        live = self._live(inputs)
        if not self.options.server_side_apply:
            return merge_patch(self.cluster, old_inputs, inputs, manager, dry_run=True)
        force = self.forces(inputs) or ownership.adoption(live, manager) is not None
        return apply(self.cluster, leave(inputs, live, manager, ignored), manager, force=force, dry_run=True)

    def delete(self, inputs: Object, live: Object) -> None:
        """Delete the object and wait until it is gone; one that is gone already is fine."""
        try:
            path = self.cluster.discovery.path(live)
            body = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": wishes.propagation_policy(inputs)}
            answer = self.cluster.client.request("DELETE", path, body=body)
        except NoSuchKind:
            return  # its definition is gone, and all objects of that kind with it
        except ApiError as error:
            if error.not_found:
                return
            raise
        if kind_of(live) == "CustomResourceDefinition":
            self.cluster.discovery.forget()
        if wishes.skips_wait_on_delete(inputs) or dig(answer, "status") == "Success":
            return  # the server says Success only for an object that went at once
        seconds = wishes.timeout(inputs, self.seconds, _DELETE_SECONDS)
        until_gone(self.cluster, self.cancellation, live, seconds, self.report)
        self.report("")

    def forces(self, inputs: Object) -> bool:
        return self.options.patch_force or is_true(inputs, wishes.PATCH_FORCE)

    def _create(self, inputs: Object, manager: str) -> Applied:
        if not self.options.server_side_apply:
            return post(self.cluster, inputs, manager)
        if not self.options.upsert:
            self._expect_none(inputs, manager)
        return apply(self.cluster, inputs, manager, force=self.forces(inputs))

    def _expect_none(self, inputs: Object, manager: str) -> None:
        """Applying would silently take over an object that somebody else made."""
        try:
            found = self.cluster.read(inputs)
        except ApiError as error:
            if error.not_found:
                return
            raise
        if dig(found, "metadata", "deletionTimestamp"):
            # The one before it, on its way out: deleted without waiting, or by somebody else.
            seconds = wishes.timeout(inputs, self.seconds, _DELETE_SECONDS)
            try:
                until_gone(self.cluster, self.cancellation, found, seconds, self.report)
            except NotReady as error:
                raise StillThere(f"its predecessor is in the way: {error}") from error
        elif not ownership.fields(found, manager):
            raise AlreadyExists(found)

    def _patiently(self, create: Callable[[], Applied]) -> Applied:
        """Try again while a namespace or kind that it needs may still be on its way."""
        for pause in (*_PAUSES, None):
            try:
                return create()
            except NoSuchKind as error:
                problem = error
            except ApiError as error:
                if not error.not_found:
                    raise
                problem = error
            if pause is None:
                raise problem
            self.report(f"waiting for what it needs: {problem}")
            if not self.cancellation.pause(pause):
                raise Cancelled("cancelled before it was created") from problem
        raise AssertionError("the last round returns or raises")

    def _live(self, inputs: Object) -> Object:
        try:
            return self.cluster.read(inputs)
        except ApiError as error:
            if error.not_found:
                error.message = f"{title(inputs)} is gone; run `pulumi refresh` so that it is created again"
            raise

    def _adopt(self, live: Object, inputs: Object, manager: str) -> Object:
        """Take over the fields that kubectl has set; again if the object changes at that very moment."""
        path = self.cluster.discovery.path(inputs)
        for attempt in range(_ADOPTION_TRIES):
            patch = ownership.adoption(live, manager)
            if patch is None:
                return live
            try:
                return self.cluster.client.request("PATCH", path, body=patch, content_type=JSON_PATCH)
            except ApiError as error:
                if error.status not in (409, 422) or attempt == _ADOPTION_TRIES - 1:
                    raise
            live = self._live(inputs)
        return live

    def _await(self, obj: Applied, inputs: Object) -> Object:
        self.report("")
        rule = readiness(obj | {"metadata": dig(inputs, "metadata", default={})})
        if rule is not None and not rule.check(obj, []).ready:
            seconds = wishes.timeout(inputs, self.seconds, rule.seconds)
            obj = until_ready(self.cluster, self.cancellation, obj, rule, seconds, self.report)
            self.report("")
        if kind_of(obj) == "CustomResourceDefinition":
            self.cluster.discovery.forget()
        return obj

    def _relinquish(self, inputs: Object, manager: str) -> None:
        """Give up all fields of a manager that is no longer used, so that it does not keep what the program drops."""
        metadata = {"name": name_of(inputs)} | ({"namespace": ns} if (ns := namespace_of(inputs)) else {})
        bare = {"apiVersion": inputs["apiVersion"], "kind": inputs["kind"], "metadata": metadata}
        apply(self.cluster, bare, manager, force=False)


def leave(inputs: Object, live: Object, manager: str, ignored: list[str]) -> Object:
    """The inputs with `ignoreChanges` done: an ignored field stays as it is on the server, or with its manager."""
    for written in ignored:
        path = parse(written)
        if not all(isinstance(part, str) and part != "*" for part in path):
            continue  # inside lists the engine's own handling has to do
        names = [str(part) for part in path]
        theirs = ownership.has(ownership.others(live, manager), path)
        mine = ownership.has(ownership.fields(live, manager), path)
        value = dig(live, *names)
        if theirs and not mine:
            inputs = _without(inputs, names)
        elif value is not None:
            inputs = _with(inputs, names, value)
    return inputs


def _without(obj: Object, names: list[str]) -> Object:
    if len(names) == 1:
        return {key: value for key, value in obj.items() if key != names[0]}
    inner = obj.get(names[0])
    return obj | {names[0]: _without(inner, names[1:])} if isinstance(inner, dict) else obj


def _with(obj: Object, names: list[str], value: object) -> Object:
    if len(names) == 1:
        return obj | {names[0]: value}
    inner = obj.get(names[0])
    return obj | {names[0]: _with(inner if isinstance(inner, dict) else {}, names[1:], value)}
