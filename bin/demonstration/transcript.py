"""Tells the story on standard output: numbered steps, what was sent, what came back; and checks each step."""

import json
from textwrap import fill

WIDTH = 104
INDENT = "    "


class StepFailedError(Exception):
    """A step went otherwise than it should; the message names the step and what was expected."""


class Transcript:
    """Prints the story as it happens; every step that is checked and fails ends it."""

    def __init__(self) -> None:
        self._number = 0
        self._title = ""

    def step(self, title: str, explanation: str = "") -> None:
        """Begin the next step, with a sentence or two for people who see this for the first time."""
        self._number += 1
        self._title = title
        print(f"\n{self._number:2}. {title}", flush=True)
        if explanation:
            print(fill(explanation, WIDTH, initial_indent=INDENT, subsequent_indent=INDENT), flush=True)

    def sent(self, what: str, content: object = None) -> None:
        """Show a request: what was called, and the JSON that went with it."""
        self._show("→", what, content)

    def came_back(self, what: str, content: object = None) -> None:
        """Show an answer: its status or gist, and the JSON that tells the most."""
        self._show("←", what, content)

    def check(self, as_it_should_be: bool, expectation: str) -> None:
        """Raise StepFailedError, with `expectation` as a sentence, unless the step went as it should."""
        if not as_it_should_be:
            self.fail(f"expected: {expectation}")

    def fail(self, reason: str) -> None:
        """Raise StepFailedError for the present step."""
        raise StepFailedError(f"Step {self._number} ({self._title}) went wrong; {reason}")

    def _show(self, arrow: str, what: str, content: object) -> None:
        gist = "" if content is None else f"  {json.dumps(content, ensure_ascii=False)}"
        line = fill(
            f"{arrow} {what}{gist}",
            WIDTH,
            initial_indent=INDENT,
            subsequent_indent=f"{INDENT}    ",
            break_on_hyphens=False,
            break_long_words=False,
        )
        print(line, flush=True)
