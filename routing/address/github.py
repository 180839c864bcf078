"""GitHub: answer on the issue or pull request."""

from routing.address.forge import derive_forge_comment
from routing.document import Document
from switchboard.reply_address import ForgeComment, Provider


def derive(document: Document) -> ForgeComment | None:
    """Return the address of an issues, issue_comment or one of three pull_request events, else None."""
    return derive_forge_comment(Provider.GITHUB, document)
