"""What a tool is: its name and words, its schemas, how it acts, and the function that performs it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.protocols import Validator
from jsonschema.validators import extend

from mcp_bridge.schema import Schema, closed
from switchboard.accounts.models import Endpoint

Arguments = Mapping[str, Any]
Handler = Callable[[Endpoint, Arguments], dict[str, Any]]


class Effect(Enum):
    """What a call does to what is there: nothing, add or change, or take something away."""

    READS = "reads"
    CHANGES = "changes"
    DESTROYS = "destroys"


def _is_whole_number(_: object, value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


# JSON Schema takes 5.0 for an integer; the use cases do not.
_Validator: type[Validator] = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_whole_number),
)


@dataclass(frozen=True, eq=False)
class Tool:
    """One verb of the bridge.

    `description` is all that a model reads (at most 2,048 characters): what, when, what comes back, which errors,
    the next step. `handler` takes the calling endpoint and checked arguments and returns the result object.
    `judged_later` names arguments whose content the use case judges, in its own words and codes. `secrets` names
    those that reach the handler as a Secret, which shows as «redacted» in whatever shows the arguments.
    """

    name: str
    description: str
    handler: Handler
    effect: Effect
    result: Schema
    arguments: Mapping[str, Schema] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    judged_later: frozenset[str] = frozenset()
    secrets: frozenset[str] = frozenset()
    open_world: bool = False

    @cached_property
    def input_schema(self) -> Schema:
        """The schema of the arguments: one closed object."""
        return closed(self.arguments, required=self.required)

    @cached_property
    def validator(self) -> Validator:
        """The check of the arguments against the schema."""
        return _Validator(self.input_schema)

    @property
    def annotations(self) -> dict[str, bool]:
        """The hints by which a client decides whether to ask its human first."""
        return {
            "readOnlyHint": self.effect is Effect.READS,
            "destructiveHint": self.effect is Effect.DESTROYS,
            "openWorldHint": self.open_world,
        }
