"""Shows Switchboard at work: starts the server, plays the story against it, and leaves it running."""

import argparse
import os
import sys
from typing import NoReturn

from demonstration.forge import running_forge
from demonstration.login import Login, prepare_login
from demonstration.server import Server, ServerError, serving
from demonstration.story import play
from demonstration.transcript import StepFailedError, Transcript
from serve import HOST, ROOT, ServeError, StopRequestedError, turn_signals_into_exceptions, wanted_port

WELCOME = """\
Switchboard takes webhooks, checks who sent them, lets rules decide which of them are work, and keeps
that work as todos until an agent has done them and answered. This demonstration plays one round of it
with made-up deliveries: every request below is a real one, over HTTP or MCP, and none leaves this machine."""


def main() -> int:
    """Play the story, then serve until Ctrl-C or, with --exit, stop; returns the exit status."""
    arguments = parse_arguments()
    turn_signals_into_exceptions()
    try:
        port = wanted_port()
        prepare_environment(port)
        print(f"{WELCOME}\n\nStarting the server …", flush=True)
        with serving(port) as server, running_forge() as forge:
            login = prepare_login()
            play(base_url=server.base_url, token=login.token, forge=forge, transcript=Transcript())
            if not arguments.exit:
                stay(server, login)
            return 0
    except StopRequestedError:
        return 0 if not arguments.exit else 1
    except (ServeError, ServerError, StepFailedError) as error:
        print(str(error).replace("bin/serve", "bin/demo"), file=sys.stderr)
        return 1


def parse_arguments() -> argparse.Namespace:
    """Return the command line's options: `exit` is whether to stop after the transcript."""
    parser = argparse.ArgumentParser(prog="bin/demo", description=__doc__)
    parser.add_argument("--exit", action="store_true", help="stop after the transcript instead of serving on")
    return parser.parse_args()


def prepare_environment(port: int) -> None:
    """Let this process and the server use the database in var/ and the address of this port, and no others.

    The server may call the forge, over plain http and at a private address; by default it may do neither.
    """
    os.environ["DATABASE_URL"] = f"sqlite:///{ROOT / 'var' / 'switchboard.sqlite3'}"
    os.environ["REDIS_URL"] = ""
    os.environ["SWITCHBOARD_BASE_URL"] = f"http://{HOST}:{port}"
    os.environ["SWITCHBOARD_ALLOW_HTTP"] = "1"
    os.environ["SWITCHBOARD_PRIVATE_HOSTS"] = f"{HOST}/32"
    os.environ["DJANGO_SETTINGS_MODULE"] = "switchboard.settings"
    sys.path.insert(0, str(ROOT))


def stay(server: Server, login: Login) -> NoReturn:
    """Say where to look around, and serve until Ctrl-C; a server that ends by itself raises ServerError."""
    print(
        f"\nThe server is still running; look around at {server.base_url}/admin/\n"
        f"  user name  {login.name}\n"
        f"  password   {login.password}   (kept in {login.password_file.relative_to(ROOT)})\n"
        f"  API        {server.base_url}/api/v1/docs/\n"
        f"  log        {server.log.relative_to(ROOT)}\n"
        "Ctrl-C stops it.",
        flush=True,
    )
    server.wait()


if __name__ == "__main__":
    sys.exit(main())
