"""The gRPC service: check, diff, create, read, update and delete of one resource at a time."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import grpc
from google.protobuf import empty_pb2

from lab.plugins.kubernetes import checkpoint, drift, names, reading, wishes
from lab.plugins.kubernetes.applying import PLAIN_MANAGER, AlreadyExists, FieldConflict
from lab.plugins.kubernetes.client import ApiError, Unreachable
from lab.plugins.kubernetes.cluster import Cluster
from lab.plugins.kubernetes.configured import Configured, fail
from lab.plugins.kubernetes.connection import NoCluster
from lab.plugins.kubernetes.diagnose import explain
from lab.plugins.kubernetes.discovery import NoSuchKind
from lab.plugins.kubernetes.engine import Engine
from lab.plugins.kubernetes.inputs import canonical, complete, imported, plan
from lab.plugins.kubernetes.kinds import OutOfScope, check_scope
from lab.plugins.kubernetes.objects import Object, annotation, full_name, title
from lab.plugins.kubernetes.operations import Cancelled, Operation, StillThere
from lab.plugins.kubernetes.previewing import masked, preview_create, unmade
from lab.plugins.kubernetes.waiting import NotReady, readiness
from lab.plugins.protocol import provider_pb2
from lab.plugins.server import from_struct, has_unknown, to_struct

T = TypeVar("T")
Code = grpc.StatusCode
Properties = dict[str, Any]

_EXPECTED = (
    AlreadyExists,
    ApiError,
    Cancelled,
    FieldConflict,
    NoCluster,
    NoSuchKind,
    OutOfScope,
    StillThere,
    Unreachable,
)


class Provider(Configured):
    """API objects as Pulumi resources."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self._with_state: set[str] = set()

    def Check(self, request: provider_pb2.CheckRequest, context: grpc.ServicerContext):  # noqa: N802
        given, olds = from_struct(request.news), from_struct(request.olds)
        inputs, old = checkpoint.to_object(given), checkpoint.to_object(olds)
        if old:
            self._with_state.add(request.urn)
        cluster = self.cluster_if_reachable()
        if cluster is None and self.options.skip_update_unreachable and old:
            return provider_pb2.CheckResponse(inputs=request.olds)
        failures: list[provider_pb2.CheckFailure] = []
        try:
            check_scope(request.type, inputs)
            default = cluster.namespace if cluster else self.connection.namespace()
            complete(inputs, old, request, default, cluster, self.options)
            wishes.check(inputs)
        except (wishes.WishError, names.NameMissing) as error:
            failures.append(provider_pb2.CheckFailure(property="metadata", reason=str(error)))
        except _EXPECTED as error:
            fail(context, Code.INVALID_ARGUMENT, str(error))
        checked = checkpoint.to_properties(inputs, given, same_shape=True)
        return provider_pb2.CheckResponse(inputs=to_struct(checked), failures=failures)

    def Diff(self, request: provider_pb2.DiffRequest, context: grpc.ServicerContext):  # noqa: N802
        self._with_state.add(request.urn)
        state = from_struct(request.olds)
        stored = from_struct(request.old_inputs)
        old = checkpoint.to_object(stored) if stored else checkpoint.inputs_of(state)
        new = checkpoint.to_object(from_struct(request.news))
        cluster = self.cluster_if_reachable()
        try:
            old, new = canonical(old, new, cluster), canonical(new, old, cluster)
            unready = cluster is not None and self._replaces_unready(
                cluster, new, checkpoint.live_of(state), request.urn
            )
        except _EXPECTED as error:
            fail(context, _code(error), f"cannot compare {title(new)}: {error}")
        return plan(old, new, list(request.ignoreChanges), self.options, unready)

    def Create(self, request: provider_pb2.CreateRequest, context: grpc.ServicerContext):  # noqa: N802
        given = from_struct(request.properties)
        inputs = checkpoint.to_object(given)
        manager = self._manager(inputs)
        api_version = inputs.get("apiVersion", "")
        if request.preview:
            previewed = self._preview_create(request, inputs, manager, context) if not has_unknown(given) else None
            if previewed is None:
                return provider_pb2.CreateResponse(properties=to_struct(unmade(given)))
            state = checkpoint.checkpoint(masked(previewed, inputs), inputs, given, manager, api_version)
            return provider_pb2.CreateResponse(properties=to_struct(state))
        store = partial(
            checkpoint.checkpoint, inputs=inputs, source=given, field_manager=manager, api_version=api_version
        )
        operation = self._operation(request.urn, request.timeout, context)
        live = self._run(context, inputs, "create", partial(operation.create, inputs, manager), store)
        return provider_pb2.CreateResponse(id=full_name(live), properties=to_struct(store(live)))

    def Update(self, request: provider_pb2.UpdateRequest, context: grpc.ServicerContext):  # noqa: N802
        state, given = from_struct(request.olds), from_struct(request.news)
        inputs, old = checkpoint.to_object(given), checkpoint.inputs_of(state)
        old_manager = checkpoint.field_manager_of(state)
        manager = self._manager(inputs, old_manager)
        ignored = list(request.ignoreChanges)
        api_version = checkpoint.api_version_of(state, inputs)
        store = partial(
            checkpoint.checkpoint, inputs=inputs, source=given, field_manager=manager, api_version=api_version
        )
        if request.preview:
            if self.cluster_if_reachable() is None or has_unknown(given):
                return provider_pb2.UpdateResponse(properties=request.news)
            operation = self._operation(request.urn, request.timeout, context)
            preview = partial(operation.preview_update, old, inputs, manager, ignored)
            previewed = self._run(context, inputs, "update", preview, None)
            state = request.news if previewed is None else to_struct(store(previewed))
            return provider_pb2.UpdateResponse(properties=state)
        operation = self._operation(request.urn, request.timeout, context)
        update = partial(operation.update, old, inputs, manager, old_manager, ignored)
        live = self._run(context, inputs, "update", update, store)
        return provider_pb2.UpdateResponse(properties=to_struct(store(live)))

    def Delete(self, request: provider_pb2.DeleteRequest, context: grpc.ServicerContext):  # noqa: N802
        state = from_struct(request.properties)
        inputs, live = checkpoint.inputs_of(state), checkpoint.live_of(state)
        try:
            self.connection.cluster()
        except NoCluster as problem:
            if self.options.delete_unreachable:
                self.engine.warn(f"{problem}\nRemoved from the state only, as deleteUnreachable asks.", request.urn)
                return empty_pb2.Empty()
            fail(context, Code.UNAVAILABLE, f"{problem}\n{problem.advice}")
        operation = self._operation(request.urn, request.timeout, context)
        self._run(context, live, "delete", partial(operation.delete, inputs, live), None)
        return empty_pb2.Empty()

    def Read(self, request: provider_pb2.ReadRequest, context: grpc.ServicerContext):  # noqa: N802
        state, given = from_struct(request.properties), from_struct(request.inputs)
        inputs, before = checkpoint.to_object(given), checkpoint.live_of(state)
        try:
            cluster = self.connection.cluster()
        except NoCluster as problem:
            if self.options.delete_unreachable:
                return provider_pb2.ReadResponse()
            if self.options.skip_update_unreachable:
                return provider_pb2.ReadResponse(id=request.id, properties=request.properties, inputs=request.inputs)
            fail(context, Code.UNAVAILABLE, f"{problem}\n{problem.advice}")
        wanted = reading.wanted(request.type, request.id, inputs, before)
        try:
            check_scope(request.type, inputs)
            live = reading.find(cluster, wanted)
        except _EXPECTED as error:
            fail(context, _code(error), f"{title(wanted)} cannot be read: {error}")
        if live is None:
            return provider_pb2.ReadResponse()
        known = bool(inputs)
        inputs = drift.follow(inputs, before, live) if known else imported(live)
        manager = self._manager(inputs, checkpoint.field_manager_of(state) or reading.applier(live))
        stored = checkpoint.checkpoint(live, inputs, given, manager, checkpoint.api_version_of(state, inputs))
        response = provider_pb2.ReadResponse(
            id=request.id, properties=to_struct(stored), inputs=to_struct(checkpoint.to_properties(inputs, given))
        )
        if known and (trouble := reading.trouble(cluster, live, inputs)):
            detail = provider_pb2.ErrorResourceInitFailed(
                id=response.id, properties=response.properties, inputs=response.inputs, reasons=[trouble]
            )
            fail(context, Code.UNKNOWN, trouble, detail)
        return response

    def _operation(self, urn: str, seconds: float, context: grpc.ServicerContext) -> Operation:
        try:
            cluster = self.connection.cluster()
        except NoCluster as problem:
            fail(context, Code.UNAVAILABLE, f"{problem}\n{problem.advice}")
        return Operation(cluster, self.options, self.cancellation, lambda line: self.engine.status(line, urn), seconds)

    def _run(
        self,
        context: grpc.ServicerContext,
        obj: Object,
        verb: str,
        operate: Callable[[], T],
        store: Callable[[Object], Properties] | None,
    ) -> T:
        """Do it; an object that exists but is not ready is kept in the state, so that the next update waits again."""
        try:
            return operate()
        except NotReady as error:
            told = [str(error), *(f"  {line}" for line in self._explain(error.obj, verb))]
            message = "\n".join(told)
            if store is None:
                fail(context, Code.DEADLINE_EXCEEDED, message)
            detail = provider_pb2.ErrorResourceInitFailed(
                id=full_name(error.obj), properties=to_struct(store(error.obj)), reasons=[message]
            )
            fail(context, Code.UNKNOWN, message, detail)
        except _EXPECTED as error:
            fail(context, _code(error), f"cannot {verb} {title(obj)}: {error}")

    def _explain(self, obj: Object, verb: str) -> list[str]:
        if verb == "delete" or self.cancellation.cancelled:
            return []
        return explain(self.connection.cluster(), obj)

    def _manager(self, inputs: Object, stored: str = "") -> str:
        """The field manager: the program's choice, else the one in the state, else a new one."""
        if not self.options.server_side_apply:
            return PLAIN_MANAGER
        asked = annotation(inputs, wishes.PATCH_FIELD_MANAGER)
        return asked or (stored if stored != PLAIN_MANAGER else "") or names.unique("pulumi-kubernetes-")

    def _preview_create(
        self, request: provider_pb2.CreateRequest, inputs: Object, manager: str, context: grpc.ServicerContext
    ) -> Object | None:
        cluster = self.cluster_if_reachable()
        if cluster is None:
            return None

        def on_found(found: Object) -> None:
            # A resource that has state is being replaced, and the one that is there will be deleted first.
            if request.urn not in self._with_state and not self.options.upsert:
                self.engine.warn(f"the update will fail: {AlreadyExists(found)}", request.urn)

        server_side = self.options.server_side_apply
        preview = partial(preview_create, cluster, inputs, manager, on_found, server_side_apply=server_side)
        return self._run(context, inputs, "create", preview, None)

    def _replaces_unready(self, cluster: Cluster, new: Object, live: Object, urn: str) -> bool:
        if annotation(new, wishes.REPLACE_UNREADY) != "true":
            return False
        if new.get("kind") != "Job":
            self.engine.warn(f"{wishes.REPLACE_UNREADY} is for Jobs; it does nothing on {title(new)}", urn)
            return False
        found = reading.find(cluster, live)
        rule = readiness(new)
        return found is not None and rule is not None and not rule.check(found, []).ready


def _code(error: BaseException) -> grpc.StatusCode:
    match error:
        case NoCluster() | Unreachable():
            return Code.UNAVAILABLE
        case ApiError(status=403):
            return Code.PERMISSION_DENIED
        case ApiError(status=404):
            return Code.NOT_FOUND
        case AlreadyExists():
            return Code.ALREADY_EXISTS
        case Cancelled():
            return Code.CANCELLED
        case _:
            return Code.FAILED_PRECONDITION
