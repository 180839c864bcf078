"""Gitea and Forgejo: answer on the issue or pull request."""

from routing.address.forge import derive_forge_comment
from routing.document import Document
from switchboard.reply_address import ForgeComment, Provider


def derive(document: Document) -> ForgeComment | None:
    """Return the address of an issue's or a pull request's event, comment or review, else None.

    Gitea calls a review `pull_request_approved`, `pull_request_rejected` or `pull_request_comment`.
    """
    return derive_forge_comment(Provider.GITEA, document)
