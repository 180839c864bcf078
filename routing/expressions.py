"""Check rule expressions at save time: what they name, then that they compile, in the sandbox (SPEC-0020)."""

from collections.abc import Collection, Sequence

from routing.evaluate import limits
from routing.rules import Rule, named
from routing.sandbox import client, policy
from switchboard.errors import ForbiddenFunction, InvalidExpression, SwitchboardError, Unavailable


def check_expressions(rules: Sequence[Rule], *, known: Collection[str] = frozenset()) -> None:
    """Raise ForbiddenFunction or InvalidExpression, naming the rule, for the first expression that may not be saved.

    A list whose expressions are all in `known` was checked before and is not compiled again.
    """
    if all(rule.expr in known for rule in rules):
        return
    for index, rule in enumerate(rules):
        refusal = _refusal(rule.expr)
        if refusal is not None:
            raise named(refusal, index=index, rule=rule.as_json())
    for index, reason in enumerate(_compile([rule.expr for rule in rules])):
        if reason is not None:
            refused = InvalidExpression(f"The expression does not compile: {reason}")
            raise named(refused, index=index, rule=rules[index].as_json())


def _compile(expressions: Sequence[str]) -> list[str | None]:
    """The whole list: expressions that compile one by one can cost too much together."""
    try:
        return client.check_compiles(expressions=expressions, limits=limits())
    except client.SandboxUnavailableError:
        raise Unavailable("The rules cannot be checked right now; save them again in a moment.") from None


def _refusal(expression: str) -> SwitchboardError | None:
    try:
        policy.check_expression(expression)
    except policy.ForbiddenFunction as refused:
        return ForbiddenFunction(f"{refused}.", **_place(refused.position))
    except policy.InvalidExpression as refused:
        return InvalidExpression(f"The expression does not parse: {refused}.", **_place(refused.position))
    return None


def _place(position: policy.Position) -> dict[str, object]:
    return {"position": {"line": position.line, "column": position.column, "offset": position.offset}}
