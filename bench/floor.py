"""The floor: the least that a webhook receiver can do, an HMAC over the body and one INSERT, on the same server."""

import hashlib
import hmac

from django.db import connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt

SECRET = b"a secret for benchmarks only"
TABLE = "CREATE TABLE IF NOT EXISTS bench_floor (delivery text PRIMARY KEY, body bytea NOT NULL)"


@csrf_exempt
def floor(request: HttpRequest) -> JsonResponse:
    """Verify and store one delivery."""
    body: bytes = request.read()
    digest = hmac.new(SECRET, body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(request.headers.get("X-Hub-Signature-256", ""), f"sha256={digest}"):
        return JsonResponse({"error": "signature"}, status=401)
    with connection.cursor() as cursor:
        values: dict[str, str | bytes] = {"delivery": request.headers["X-GitHub-Delivery"], "body": body}
        cursor.execute("INSERT INTO bench_floor (delivery, body) VALUES (%(delivery)s, %(body)s)", values)
    return JsonResponse({"stored": True}, status=202)
