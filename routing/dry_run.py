"""Route a sample or a stored delivery without persisting anything, with the receiver's own router (SPEC-0020)."""

import json
from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from routing.configure import Draft, validate, with_ids
from routing.document import parse_document
from routing.envelope import Delivery, build_envelope
from routing.fields import Json
from routing.grant import Grant, compute_grant
from routing.headers import sanitise_headers
from routing.models import Event, Webhook
from routing.router import Configuration, decide_delivery, evaluate_rules, work_order_of
from routing.sources import Source, trust_mode_of
from routing.stored import stored_delivery
from routing.webhooks import find_webhook
from switchboard.accounts.reach import Principal
from switchboard.errors import InvalidArgument, NotFound
from switchboard.ids import lookup_id

ARGUMENTS = frozenset({"payload", "event_id", "headers", "rules", "default_action", "params", "omit_envelope"})
MAX_HEADERS = 100


def test_rules(*, principal: Principal, webhook_id: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the decision, trace and envelope that a delivery would get.

    `arguments` holds exactly one of `payload` (any JSON value, with optional `headers`: a delivery that passed
    the webhook's verification) and `event_id` (of this webhook); optionally `rules` with `default_action`, and
    `params`, as candidates that are validated like a save; `omit_envelope`. Which keys are present matters.
    """
    if unknown := set(arguments) - ARGUMENTS:
        raise InvalidArgument(f"Unknown argument {min(unknown)}.", field=min(unknown))
    webhook = find_webhook(principal=principal, webhook_id=webhook_id)
    grant = compute_grant(webhook, now=timezone.now())
    configuration = _configuration(webhook, grant, arguments)
    delivery = _delivery(webhook, arguments)
    evaluation = evaluate_rules(configuration, delivery)
    decision = decide_delivery(configuration, delivery, evaluation=evaluation, grant=grant)
    result: dict[str, Any] = {"decision": decision.as_json(), "trace": dict(decision.trace)}
    if decision.once_key is not None:
        result["once_key"] = decision.once_key
    if (work_order := work_order_of(delivery, decision)) is not None:
        result["work_order"] = work_order
    if not _read_flag(arguments.get("omit_envelope", False)):
        result["envelope"] = build_envelope(delivery).value
    return result


def _configuration(webhook: Webhook, grant: Grant, arguments: Mapping[str, Any]) -> Configuration:
    saved = Configuration.saved(webhook)
    if not {"rules", "default_action", "params"} & set(arguments):
        return saved
    has_rules = arguments.get("rules") is not None
    if "default_action" in arguments and not has_rules:
        raise InvalidArgument("default_action is a candidate beside candidate rules only.", field="default_action")
    draft = Draft(
        with_ids(arguments["rules"]) if has_rules else saved.rules,
        arguments.get("default_action", saved.default_action),
        arguments["params"] if arguments.get("params") is not None else saved.params,
    )
    return Configuration.candidate(webhook, validate(draft, grant=grant))


def _delivery(webhook: Webhook, arguments: Mapping[str, Any]) -> Delivery:
    has_payload, has_event = "payload" in arguments, arguments.get("event_id") is not None
    if has_payload == has_event:
        raise InvalidArgument("Give exactly one of payload and event_id.")
    if has_payload:
        return _sample(webhook, arguments["payload"], _read_headers(arguments.get("headers")))
    if arguments.get("headers") is not None:
        raise InvalidArgument("headers go with payload; a stored event has its own.", field="headers")
    event = Event.objects.filter(webhook=webhook, pk=lookup_id(arguments["event_id"])).first()
    if event is None:
        raise NotFound
    return stored_delivery(event, webhook)


def _sample(webhook: Webhook, payload: Json, headers: dict[str, str]) -> Delivery:
    try:
        body = json.dumps(payload, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except (ValueError, RecursionError):
        raise InvalidArgument("payload must be plain JSON.", field="payload") from None
    source = Source(webhook.source_type)
    content_type = headers.get("content-type")
    return Delivery(
        source=source,
        webhook_id=str(webhook.pk),
        trust_mode=trust_mode_of(source),
        verified=source is not Source.GENERIC,
        content_type=content_type,
        headers=sanitise_headers(headers, secrets=[]),
        body=body,
        document=parse_document(body, content_type="application/json"),
    )


def _read_headers(headers: object) -> dict[str, str]:
    if headers is None:
        return {}
    if not isinstance(headers, Mapping) or len(headers) > MAX_HEADERS:
        raise InvalidArgument(f"headers must be an object of at most {MAX_HEADERS} texts.", field="headers")
    if not all(isinstance(name, str) and isinstance(value, str) for name, value in headers.items()):
        raise InvalidArgument("headers must be an object of texts.", field="headers")
    return {name.lower(): value for name, value in headers.items()}


def _read_flag(flag: object) -> bool:
    if not isinstance(flag, bool):
        raise InvalidArgument("omit_envelope must be true or false.", field="omit_envelope")
    return flag
