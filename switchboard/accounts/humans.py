"""Find and create the humans that management commands act for."""

import structlog
from django.core.exceptions import ValidationError

from switchboard.accounts.models import Human
from switchboard.errors import InvalidArgument, NotFound
from switchboard.text import one_line, storable

log = structlog.get_logger(__name__)


def find_human(*, username: str) -> Human:
    """Return the human of that user name; raise NotFound."""
    found = Human.objects.filter(username=username).first() if storable(username) == username else None
    if found is None:
        raise NotFound(f"There is no human named {one_line(username, limit=80)}.")
    return found


def create_human(*, username: str) -> Human:
    """Create a human who cannot sign in until a password is set; raise InvalidArgument for a bad or taken name."""
    human = Human(username=username)
    human.set_unusable_password()
    try:
        human.full_clean()
    except ValidationError as error:
        raise InvalidArgument(f"{one_line(username, limit=80)}: {' '.join(error.messages)}") from None
    human.save(force_insert=True)
    log.info("human.created", human=human.username)
    return human
