"""The ingest URL: bytes in, status out (contract §3)."""

import structlog
from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt

from routing.deliver import Receipt
from routing.models import Disposition
from routing.receive import Challenge, receive_delivery
from switchboard.body import read_body
from switchboard.errors import SwitchboardError

log = structlog.get_logger(__name__)
MAX_BODY_BYTES = 5 * 1024 * 1024


class MethodNotAllowed(SwitchboardError):
    code, status, sentence = "method_not_allowed", 405, "Deliveries are POSTed."


class EncodedBody(SwitchboardError):
    code, status, sentence = (
        "unsupported_encoding",
        415,
        "Send the body as it is, without a Content-Encoding.",
    )


@csrf_exempt
def ingest(request: HttpRequest, token: str) -> JsonResponse:
    """Answer one delivery; every refusal is JSON with `error` and `code`, and no cookie has any authority here."""
    try:
        return _answer(_receive(request, token))
    except SwitchboardError as refusal:
        return _refuse(refusal)
    except Exception:
        log.exception("delivery.failed")
        return _refuse(SwitchboardError())


def _receive(request: HttpRequest, token: str) -> Receipt | Challenge:
    if request.method != "POST":
        raise MethodNotAllowed
    if request.headers.get("Content-Encoding", "").strip().lower() not in {"", "identity"}:
        raise EncodedBody
    return receive_delivery(
        token=token,
        headers={name.lower(): value for name, value in request.headers.items()},
        body=read_body(request, max_bytes=MAX_BODY_BYTES),
        content_type=request.headers.get("Content-Type") or None,
    )


def _answer(outcome: Receipt | Challenge) -> JsonResponse:
    if isinstance(outcome, Challenge):
        return JsonResponse({"challenge": outcome.value})
    todos = [
        {"id": todo.id, "endpoint_id": todo.endpoint_id, "queue": todo.queue, "created": todo.created}
        for todo in outcome.todos
    ]
    answer = {"todos": todos, "created": sum(todo.created for todo in outcome.todos)}
    if outcome.disposition == Disposition.REPEAT:
        answer["repeat"] = True
    elif outcome.disposition != Disposition.ROUTED:
        answer["dropped"] = True
    elif todos:
        answer |= {"id": todos[0]["id"], "queue": todos[0]["queue"]}
    return JsonResponse(answer | {"verified": outcome.verified, "trust_mode": outcome.trust_mode}, status=202)


def _refuse(refusal: SwitchboardError) -> JsonResponse:
    response = JsonResponse({"error": refusal.message, "code": refusal.code}, status=refusal.status)
    if isinstance(refusal, MethodNotAllowed):
        response.headers["Allow"] = "POST"
    return response
