"""What is stored of a request holds no credential and no ingest token."""

from routing.headers import redact_token, sanitise_headers

TOKEN = "whk_3fD9xQ"


def test_names_are_lower_case_and_sorted() -> None:
    stored = sanitise_headers({"X-GitHub-Event": "issues", "Content-Type": "text/plain"}, secrets=[])

    assert list(stored.items()) == [("content-type", "text/plain"), ("x-github-event", "issues")]


def test_credentials_and_signatures_are_left_out() -> None:
    names = [
        "Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-Hub-Signature",
        "X-Hub-Signature-256", "X-Gitea-Signature", "X-Gogs-Signature", "X-Forgejo-Signature",
        "X-Slack-Signature", "Stripe-Signature", "X-Cairn-Signature", "Webhook-Signature",
        "X-Gitlab-Token", "X-Client-Secret", "X-Api-Key", "ApiKey", "X-Password", "X-Auth-Key",
        "X-Forwarded-Client-Cert", "X-Amz-Security-Token", "Connection", "Transfer-Encoding",
    ]  # fmt: skip

    assert sanitise_headers(dict.fromkeys(names, "value"), secrets=[]) == {}


def test_what_rules_and_people_read_stays() -> None:
    names = [
        "x-github-event", "x-github-delivery", "x-gitea-event", "x-gitea-event-type",
        "x-gitea-delivery", "x-cairn-event", "x-cairn-event-id", "x-slack-request-timestamp",
        "x-slack-retry-num", "webhook-id", "x-delivery-id", "user-agent", "content-type",
        "content-length", "host", "x-author", "idempotency-key",
    ]  # fmt: skip

    assert list(sanitise_headers(dict.fromkeys(names, "value"), secrets=[])) == sorted(names)


def test_the_ingest_token_is_redacted_wherever_it_stands() -> None:
    headers = {"Referer": f"https://sb.example/webhooks/w/{TOKEN}?again={TOKEN}"}

    stored = sanitise_headers(headers, secrets=["", TOKEN])

    assert stored == {"referer": "https://sb.example/webhooks/w/«redacted»?again=«redacted»"}


def test_a_value_that_text_columns_refuse_is_made_storable() -> None:
    assert sanitise_headers({"X-Odd": "a\0b\ud800"}, secrets=[]) == {"x-odd": "a\ufffdb\ufffd"}


def test_the_token_in_a_ping_body_becomes_as_many_stars() -> None:
    body = b'{"hook":{"config":{"url":"https://sb.example/webhooks/w/whk_3fD9xQ"}}}'

    redacted = redact_token(body, TOKEN)

    assert redacted == b'{"hook":{"config":{"url":"https://sb.example/webhooks/w/**********"}}}'
    assert len(redacted) == len(body)


def test_a_body_without_the_token_stays_the_same_object() -> None:
    body = b'{"zen":"Keep it logically awesome."}'

    assert redact_token(body, TOKEN) is body
    assert redact_token(body, "") is body
