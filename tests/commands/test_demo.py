"""`bin/demo` for real: the story is told and checked, the server stays or goes, and a failed step is a failure."""

import os
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from tests.copies import bare_environment, free_port, make_copy

STEPS = 24
REPLY = "Picked this up."


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_copy(tmp_path_factory.mktemp("demo"))


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def stories(copy: Path) -> list[subprocess.CompletedProcess[str]]:
    """The story told twice, on the same var/."""
    return [run_to_the_end(copy, free_port()), run_to_the_end(copy, free_port())]


def test_the_story_is_told_to_its_end_and_can_be_told_again(stories: list[subprocess.CompletedProcess[str]]) -> None:
    for story in stories:
        assert (story.returncode, story.stderr) == (0, "")
        numbers = [int(number) for number in re.findall(r"^ ?(\d+)\. ", story.stdout, re.MULTILINE)]
        assert numbers == list(range(1, STEPS + 1))


@pytest.mark.parametrize(
    "shown",
    [
        '"dropped": true',
        '"repeat": true',
        '"created": 0',
        "401  {",
        "invalid_signature",
        "refused: forbidden",
        '"authorized_by": {"stage": "rule"',
        "state done",
        "by no_match_default",
        '"login": "switchboard-bot"',
        '"repo": "acme/shop", "number": 12',
        "the forge received: POST /api/v1/repos/acme/shop/issues/12/comments",
        f"comment 1 by switchboard-bot: {REPLY}",
        'sent: Posted.  {"duplicate": false',
        'nothing was posted again.  {"duplicate": true',
        "comments at the forge: 1",
        "self_reply issue_comment.created",
        'state done, replies  {"count": 1',
        "for this demonstration only",
    ],
)
def test_the_transcript_shows_what_the_story_promises(
    stories: list[subprocess.CompletedProcess[str]], shown: str
) -> None:
    assert shown in unwrapped(stories[0].stdout)


def test_only_a_story_told_before_leaves_a_connection_to_replace(
    stories: list[subprocess.CompletedProcess[str]],
) -> None:
    assert ["DELETE /api/v1/connections/" in story.stdout for story in stories] == [False, True]


def test_no_secret_stands_in_the_transcript_or_the_log(
    copy: Path, stories: list[subprocess.CompletedProcess[str]]
) -> None:
    log = (copy / "var" / "log" / "demo-server.log").read_text()

    secret = r"(sbk?_|whsec_|lt_|/webhooks/w/)[A-Za-z0-9_-]{12,}"
    token_of_the_forge = r"\b[0-9a-f]{40}\b"
    assert not re.search(f"{secret}|{token_of_the_forge}", stories[1].stdout + log)
    assert REPLY not in log


@pytest.mark.usefixtures("stories")
def test_the_password_is_kept_for_its_owner_alone(copy: Path) -> None:
    assert (copy / "var" / "demo-password").stat().st_mode & 0o777 == 0o600


def test_without_exit_the_server_stays_the_login_works_and_ctrl_c_ends_everything(copy: Path, port: int) -> None:
    with running(copy, port) as demo:
        told = read_until(demo, "Ctrl-C stops it.")
        password = re.search(r"password   (\S+)", told)
        assert password
        assert can_sign_in(port, "demo", password[1])
        assert f"switchboard-bot: {REPLY}" in page_with_the_reply(told)

        os.killpg(demo.pid, signal.SIGINT)

        assert demo.wait(timeout=30) == 0
    assert not is_open(port)


def test_a_server_that_dies_in_between_fails_the_step_and_the_demonstration(copy: Path, port: int) -> None:
    with running(copy, port, "--exit") as demo:
        read_until(demo, "\n 7. ")
        kill_web_server(demo)

        _, complaint = demo.communicate(timeout=60)

    assert demo.returncode == 1
    assert re.match(r"Step \d+ \(.+\) went wrong; there was no usable answer: ", complaint)


def test_a_port_that_is_taken_is_named_in_one_sentence(copy: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        number = taken.getsockname()[1]

        ran = run_to_the_end(copy, number)

    assert ran.returncode == 1
    assert ran.stdout == ""
    assert ran.stderr.startswith(f"Port {number} cannot be used")
    assert "bin/demo" in ran.stderr


def run_to_the_end(copy: Path, port: int) -> subprocess.CompletedProcess[str]:
    command = [str(copy / "bin" / "demo"), "--exit"]
    environment = bare_environment(PORT=str(port))
    return subprocess.run(command, cwd="/", env=environment, capture_output=True, text=True, timeout=120, check=False)


@contextmanager
def running(copy: Path, port: int, *options: str) -> Iterator[subprocess.Popen[str]]:
    """Run the demonstration as a terminal would: in a process group of its own, which does not outlive the block."""
    demo = subprocess.Popen(
        [copy / "bin" / "demo", *options],
        cwd="/",
        env=bare_environment(PORT=str(port)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        with demo:
            yield demo
            demo.kill()
    finally:
        if members(demo.pid):
            os.killpg(demo.pid, signal.SIGKILL)


def read_until(demo: subprocess.Popen[str], text: str) -> str:
    assert demo.stdout
    told = ""
    for line in demo.stdout:
        told += line
        if text in told:
            return told
    raise AssertionError(f"{text!r} never came; told was: {told}")


def members(group: int) -> list[int]:
    """Return the processes of a process group."""
    running_now = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    return [pid for pid in running_now if group_of(pid) == group]


def group_of(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None


def kill_web_server(demo: subprocess.Popen[str]) -> None:
    for pid in members(demo.pid):
        if b"gunicorn" in Path(f"/proc/{pid}/cmdline").read_bytes():
            os.kill(pid, signal.SIGKILL)


def unwrapped(told: str) -> str:
    """Return the transcript with each of its paragraphs on one line."""
    return re.sub(r"\n {4,}(?![→←])", " ", told)


def page_with_the_reply(told: str) -> str:
    """Return the forge's page that the transcript links to."""
    permalink = re.search(
        r'"permalink": "(http://127\.0\.0\.1:\d+/acme/shop/issues/12#issuecomment-1)"', unwrapped(told)
    )
    assert permalink
    with requests.Session() as session:
        session.trust_env = False
        return session.get(permalink[1], timeout=10).text


def can_sign_in(port: int, name: str, password: str) -> bool:
    with requests.Session() as session:
        session.trust_env = False
        page = f"http://127.0.0.1:{port}/admin/login/"
        session.get(page, timeout=10)
        form = {"username": name, "password": password, "csrfmiddlewaretoken": session.cookies["csrftoken"]}
        signed_in = session.post(f"{page}?next=/admin/", data=form, timeout=10)
        return signed_in.url.endswith("/admin/") and "Log out" in signed_in.text


def is_open(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0
