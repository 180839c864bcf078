"""Re-seal every stored secret under the current key, row by row, without losing a change made meanwhile."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, cast

import structlog
from django.apps import apps
from django.db.models import Model, QuerySet

from switchboard.errors import EncryptionRequired
from switchboard.sealing import CannotOpen, can_seal, reseal

log = structlog.get_logger(__name__)
BATCH = 200
ROUNDS = 5


@dataclass(frozen=True)
class Rekeyed:
    """How many sealed values are under the current key now, open with no key, or changed in every round."""

    resealed: int
    unopened: int
    busy: int


class Outcome(Enum):
    RESEALED = "resealed"
    UNOPENED = "unopened"
    CHANGED = "changed"
    GONE = "gone"


def rekey() -> Rekeyed:
    """Re-seal the SEALED_FIELDS of every model's rows and count; raise EncryptionRequired without a key.

    A value is replaced only if it is still the one that was read; a row that changed meanwhile is read again.
    """
    if not can_seal():
        raise EncryptionRequired
    outcomes = Counter(_until_settled(row, field) for row, field in _sealed_values())
    result = Rekeyed(
        resealed=outcomes[Outcome.RESEALED], unopened=outcomes[Outcome.UNOPENED], busy=outcomes[Outcome.CHANGED]
    )
    log.info("secrets.rekeyed", resealed=result.resealed, unopened=result.unopened, busy=result.busy)
    return result


def _sealed_values() -> Iterator[tuple[Model, str]]:
    for model in apps.get_models():
        fields: tuple[str, ...] = getattr(model, "SEALED_FIELDS", ())
        if not fields:
            continue
        for row in _in_batches(model._default_manager.only("pk", *fields)):
            yield from ((row, field) for field in fields if getattr(row, field))


def _in_batches(rows: QuerySet[Any]) -> Iterator[Model]:
    ordered = rows.order_by("pk")
    batch = list(ordered[:BATCH])
    while batch:
        yield from batch
        batch = list(ordered.filter(pk__gt=batch[-1].pk)[:BATCH])


def _until_settled(row: Model, field: str) -> Outcome:
    outcome = _reseal(row, field)
    for _ in range(ROUNDS - 1):
        if outcome is not Outcome.CHANGED:
            break
        found = type(row)._default_manager.filter(pk=row.pk).first()
        if found is None or not getattr(found, field):
            return Outcome.GONE
        outcome = _reseal(found, field)
    return outcome


def _reseal(row: Model, field: str) -> Outcome:
    before = cast("str", getattr(row, field))
    try:
        after = reseal(before, identity=cast("Any", row).seal_identity(field))
    except CannotOpen:
        return Outcome.UNOPENED
    same = type(row)._default_manager.filter(pk=row.pk, **{field: before})
    return Outcome.RESEALED if same.update(**{field: after}) else Outcome.CHANGED
