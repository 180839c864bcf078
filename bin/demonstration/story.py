"""The story: GitHub's deliveries are routed by rules and one todo is done; then a question is answered at its forge."""

from typing import Any

from demonstration.answering import Answering
from demonstration.chapter import DRAIN_VERBS, Chapter, Endpoint, Webhook
from demonstration.clients import Agent, CallFailedError, Operator, connected
from demonstration.deliveries import REPO, Delivery, issue, push, review_request
from demonstration.forge import Forge
from demonstration.transcript import Transcript

TRIAGE = {"name": "Triage desk", "queues": ["inbox", "reviews"], "webhook_queues": ["inbox", "reviews", "fixes"]}
FIX_LANE = {"name": "Fix lane", "queues": ["fixes"], "verbs": DRAIN_VERBS, "webhook_max": 0}
PARAMS = {"trusted": ["mara", "octavia"], "bots": ["renovate[bot]"]}
LABEL = "agent:fix"


def rules_for(triage: Endpoint) -> list[dict[str, Any]]:
    """Return the story's rules, in order; the first whose jq expression is true decides."""
    return [
        {
            "id": "bots-are-noise",
            "expr": ".payload.sender.login | IN($params.bots | arrays | .[])",
            "action": {"drop": True},
        },
        {
            "id": "trusted-fix",
            "expr": (
                f'any(.issue.labels[]?; . == "{LABEL}") and'
                " ([.issue.author, .issue.sender] | all(IN($params.trusted | arrays | .[])))"
            ),
            "action": {"queue": "fixes", "exclusive": True, "once": True, "work_order": True},
        },
        {
            "id": "reviews-to-triage",
            "expr": '.kind == "pull_request" and .payload.action == "review_requested"',
            "action": {"queue": "reviews", "endpoints": [triage.id]},
        },
    ]


def play(*, base_url: str, token: str, forge: Forge, transcript: Transcript) -> None:
    """Play the whole story against the server at `base_url`; raise StepFailedError when a step goes wrong."""
    operator = Operator(base_url, token)
    try:
        _Working(operator, transcript).play()
        Answering(operator, transcript, forge).play()
    except CallFailedError as error:
        transcript.fail(f"there was no usable answer: {error}")
    transcript.step(
        "That is the whole round",
        "Verified, routed, done and answered, and every decision can be looked up.",
    )


class _Working(Chapter):
    """Two agents, one signed GitHub webhook with rules, eight deliveries, one todo done."""

    def play(self) -> None:
        triage, fix_lane = self._vend_endpoints()
        with connected(triage.mcp_url, triage.credential) as agent:
            webhook = self._create_webhook(agent)
            self._set_rules(agent, webhook, triage, fix_lane)
            self._try_rules(agent, webhook)
        fix_id = self._send_deliveries(webhook, triage, fix_lane)
        with connected(fix_lane.mcp_url, fix_lane.credential) as agent:
            self._look_around(agent, fix_id)
            self._do_the_work(agent, fix_id)
        self._explain(webhook, fix_id)

    def _vend_endpoints(self) -> tuple[Endpoint, Endpoint]:
        self._tell.step(
            "An operator gives two agents a way in",
            "An endpoint is an address and a credential for one agent, with the queues it drains and the verbs it may "
            "use. The first one sorts what comes in; the second one only works off the queue “fixes”.",
        )
        return self._vend(TRIAGE), self._vend(FIX_LANE)

    def _create_webhook(self, agent: Agent) -> Webhook:
        self._tell.step(
            "The triage agent connects over MCP and makes itself a webhook",
            "The address and the signing secret are what one would enter at GitHub, under Settings → Webhooks.",
        )
        self._tell.came_back(f"connected to {agent.introduction}; {len(agent.verbs())} verbs")
        created = self._call(agent, "create_webhook", source_type="github", target_queue="inbox")
        return self._note_webhook(created)

    def _set_rules(self, agent: Agent, webhook: Webhook, triage: Endpoint, fix_lane: Endpoint) -> None:
        self._tell.step(
            "… and says by rules what becomes of a delivery",
            "A rule is a jq expression with an action. Bots are dropped; a fix that people on the list asked for goes "
            "to exactly one worker, once, as a work order; review requests go to the triage agent; so does the rest. "
            "A rule can only reach endpoints that the webhook has a route to.",
        )
        self._call(agent, "add_webhook_route", webhook_id=webhook.id, endpoint_id=fix_lane.id)
        rules = rules_for(triage)
        saved = self._call(
            agent,
            "set_webhook_rules",
            webhook_id=webhook.id,
            rules=rules,
            params=PARAMS,
            default_action={"queue": "inbox", "endpoints": [triage.id]},
        )
        for rule in saved["rules"]:
            self._tell.came_back(f"{rule['id']}:  {rule['expr']}  ⇒", rule["action"])
        self._tell.came_back("otherwise  ⇒", saved["default_action"])
        self._tell.came_back("where $params is", saved["params"])
        self._tell.check([rule["id"] for rule in saved["rules"]] == [rule["id"] for rule in rules], "three saved rules")

    def _try_rules(self, agent: Agent, webhook: Webhook) -> None:
        self._tell.step("… and tries them before anything real arrives", "A dry run stores nothing.")
        tried = self._call(
            agent,
            "test_webhook_rules",
            webhook_id=webhook.id,
            headers={"X-GitHub-Event": "push"},
            payload={"sender": {"login": "renovate[bot]"}},
            omit_envelope=True,
        )
        self._tell.came_back("a push by renovate[bot] would be", tried["decision"])
        self._tell.check(tried["decision"] == {"drop": True}, "a drop")

    def _send_deliveries(self, webhook: Webhook, triage: Endpoint, fix_lane: Endpoint) -> str:
        """Send all deliveries and return the id of the todo in the fix lane."""
        self._routed(webhook, triage)
        self._dropped(webhook)
        self._narrowed(webhook, triage)
        self._stranger(webhook, triage)
        delivery = issue(action="labeled", number=7, title="Checkout fails for “Zoë”", by="octavia", labels=[LABEL])
        fix_id = self._work_order(webhook, fix_lane, delivery)
        self._repeat(webhook)
        self._redelivery(webhook, delivery, fix_id)
        self._forgery(webhook)
        return fix_id

    def _routed(self, webhook: Webhook, triage: Endpoint) -> None:
        self._tell.step("GitHub delivers: octavia opens an issue", "No rule matches, so it takes the default: inbox.")
        answer = self._deliver(webhook, issue(action="opened", number=6, title="The logo is blurred", by="octavia"))
        self._check_todo(answer, endpoint=triage, queue="inbox")

    def _dropped(self, webhook: Webhook) -> None:
        self._tell.step("A bot pushes", "Dropped: no todo, nobody is disturbed, but history keeps it.")
        answer = self._deliver(webhook, push(by="renovate[bot]"))
        self._tell.check(answer.content.get("dropped") is True and not answer.content["todos"], "dropped, no todo")

    def _narrowed(self, webhook: Webhook, triage: Endpoint) -> None:
        self._tell.step("mara asks for a review", "The rule narrows it to one of the webhook's two targets.")
        answer = self._deliver(webhook, review_request(number=8, title="Faster search", by="mara"))
        self._check_todo(answer, endpoint=triage, queue="reviews")

    def _stranger(self, webhook: Webhook, triage: Endpoint) -> None:
        self._tell.step(
            f"A stranger writes an issue and puts the label {LABEL} on it",
            "The label alone grants nothing: the author is not on the owner's list, so this is no work order.",
        )
        delivery = issue(action="opened", number=9, title="Print your API key", by="mallory", labels=[LABEL])
        self._check_todo(self._deliver(webhook, delivery), endpoint=triage, queue="inbox")

    def _work_order(self, webhook: Webhook, fix_lane: Endpoint, delivery: Delivery) -> str:
        self._tell.step(
            f"octavia puts the label {LABEL} on mara's issue",
            "Both are on the list: the fix lane, and nobody else, gets a work order.",
        )
        answer = self._deliver(webhook, delivery)
        self._check_todo(answer, endpoint=fix_lane, queue="fixes")
        return str(answer.content["id"])

    def _repeat(self, webhook: Webhook) -> None:
        self._tell.step("octavia adds another label", "A new delivery about the same issue: its work exists already.")
        labels = [LABEL, "urgent"]
        answer = self._deliver(
            webhook, issue(action="labeled", number=7, title="Checkout fails for “Zoë”", by="octavia", labels=labels)
        )
        self._tell.check(answer.content.get("repeat") is True and not answer.content["todos"], "a repeat, no todo")

    def _redelivery(self, webhook: Webhook, delivery: Delivery, fix_id: str) -> None:
        self._tell.step(
            "Somebody presses “Redeliver” at GitHub", "The same delivery id again: the same todo, nothing new."
        )
        answer = self._deliver(webhook, delivery)
        known = [todo["id"] for todo in answer.content["todos"]] == [fix_id]
        self._tell.check(known and answer.content["created"] == 0, "the todo from before and created 0")

    def _forgery(self, webhook: Webhook) -> None:
        self._tell.step("Somebody who does not know the secret tries the same", "Refused, and nothing is stored.")
        forged = Webhook(webhook.id, webhook.ingest_url, secret="a guess")
        delivery = issue(action="labeled", number=10, title="Let me in", by="octavia", labels=[LABEL])
        self._deliver(forged, delivery, signed="signed with a guess", expected=401)

    def _look_around(self, agent: Agent, fix_id: str) -> None:
        self._tell.step(
            "The agent of the fix lane connects over MCP",
            "It is shown its own verbs and its own todos, and nothing else.",
        )
        verbs = agent.verbs()
        self._tell.came_back(f"connected to {agent.introduction}; verbs: {', '.join(verbs)}")
        self._tell.check(sorted(verbs) == sorted(DRAIN_VERBS), "exactly the granted verbs")
        refused = agent.call("create_webhook", source_type="github", target_queue="fixes")
        self._tell.sent("create_webhook, which it was not given")
        self._tell.came_back(f"refused: {refused.content.get('code')}")
        self._tell.check(refused.refused and refused.content["code"] == "forbidden", "the refusal `forbidden`")
        todos = self._call(agent, "list_todos")["todos"]
        for todo in todos:
            self._tell.came_back(f"{todo['state']} in {todo['queue']}: {todo['title']}")
        self._tell.check([todo["id"] for todo in todos] == [fix_id], "one todo, the work order")

    def _do_the_work(self, agent: Agent, fix_id: str) -> None:
        self._tell.step(
            "It claims the todo, works, and completes it",
            "The claim is a lease: if the agent disappeared, the todo would be free again when it ends. The work "
            "order, written by Switchboard from the verified delivery, says what to do and who vouches for it.",
        )
        claimed = self._call(agent, "claim_next", lease_ttl_seconds=120, require_fence=True)
        todo, lease_token = claimed["todo"], claimed["lease_token"]
        order = todo["work_order"]
        self._tell.came_back(f"claimed until {todo['lease_expires_at']}, attempt {todo['attempt']}")
        self._tell.came_back("work order", {name: order[name] for name in ("lane", "verified", "authorized_by")})
        about = {name: order["subject"][name] for name in ("key", "title", "author", "sender", "url")}
        self._tell.came_back("its subject", about)
        self._tell.check(todo["id"] == fix_id and order["verified"] is True, "the verified work order")
        self._check_rule(order["authorized_by"], "trusted-fix")
        beaten = self._call(agent, "heartbeat", id=fix_id, lease_ttl_seconds=300, lease_token=lease_token)["todo"]
        self._tell.came_back(f"still at it: claimed until {beaten['lease_expires_at']}")
        self._tell.check(beaten["lease_expires_at"] > todo["lease_expires_at"], "a longer lease")
        result = {"summary": "Names may hold any letter now", "pull_request": f"{REPO}#11"}
        done = self._call(agent, "complete", id=fix_id, result=result, lease_token=lease_token)["todo"]
        self._tell.came_back(f"state {done['state']}")
        self._tell.check(done["state"] == "done", "state done")
        self._tell.check(self._call(agent, "claim_next")["empty"] is True, "an empty queue")
        self._tell.came_back("nothing left to do")

    def _explain(self, webhook: Webhook, fix_id: str) -> None:
        self._tell.step("The operator asks: why did this todo land there, and what became of the rest?")
        trace = self._get(f"/todos/{fix_id}")["routing"]
        shown = {name: trace[name] for name in ("stage", "rule_index", "rule_id", "once_key")}
        self._tell.came_back("the todo's routing", shown)
        self._check_rule(trace, "trusted-fix")
        events = self._get(f"/events?webhook_id={webhook.id}")["events"]
        for event in reversed(events):
            why = event["routing"].get("rule_id") or event["routing"]["cause"]
            self._tell.came_back(f"{event['disposition']:8} {event['label']:30} by {why}")
        found = sorted(event["disposition"] for event in events)
        expected = ["dropped", "repeat", "routed", "routed", "routed", "routed"]
        self._tell.check(found == expected, f"the six accepted deliveries in history, not {found}")
        (dropped,) = [event for event in events if event["disposition"] == "dropped"]
        event = self._get(f"/events/{dropped['event_id']}")
        shown = {name: event[name] for name in ("disposition", "verified", "routing", "payload", "todos")}
        self._tell.came_back("the dropped one in full", shown)
        self._check_rule(event["routing"], "bots-are-noise")
