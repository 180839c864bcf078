"""What the benchmarks send: an 11 kB issue of GitHub's, and 32 rules of which the last matches it."""

import json

BODY_BYTES = 11_000


def body() -> bytes:
    """Return the body, the same each time."""
    issue = {
        "number": 17,
        "title": "Crash on start",
        "state": "open",
        "html_url": "https://github.com/acme/widgets/issues/17",
        "user": {"login": "octavia", "id": 21031067, "type": "User"},
        "labels": [{"id": number, "name": f"label-{number}"} for number in range(20)],
    }
    repository = {"full_name": "acme/widgets", "html_url": "https://github.com/acme/widgets"}
    opened = {"action": "opened", "issue": issue, "repository": repository, "sender": {"login": "octavia"}}
    filled = {**opened, "text": "x" * (BODY_BYTES - len(json.dumps(opened)))}
    return json.dumps(filled).encode()


def rules() -> list[dict[str, object]]:
    """Thirty-one rules of the usual kinds that do not match, then one that does."""
    misses = [
        '.kind == "push" and .payload.ref == "refs/heads/release-{n}"',
        ".issue.author as $a | any(($params.blocked_{n} // [])[]; . == $a)",
        '[.issue.labels[]? | select(startswith("lane-{n}:"))] | length > 0',
        '.issue.title | test("(?i)^urgent {n}\\\\b")',
    ]
    filled = [misses[number % len(misses)].replace("{n}", str(number)) for number in range(31)]
    expressions = [*filled, ".issue.author as $a | any($params.trusted[]; . == $a)"]
    return [
        {"id": f"rule-{index}", "expr": expression, "action": {"queue": "lane"}}
        for index, expression in enumerate(expressions)
    ]
