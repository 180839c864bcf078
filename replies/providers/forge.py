"""What GitHub's and Gitea's calls share: a comment on an issue or pull request, and the current user."""

from datetime import datetime

from replies.providers.call import ErrorClass, Failed, Identity, Posted, ProviderAnswer, Unclear, joined_url
from replies.providers.reading import NO_OBJECT_ID, UNREADABLE, failure, json_object, name_at, permalink
from switchboard.object_ids import numbered_id
from switchboard.reply_address import ForgeComment, ReplyAddress


def comments_url(address: ReplyAddress, *, api_base: str) -> str:
    """Return the URL that takes comments on the address; raise TypeError when it is no forge's."""
    if not isinstance(address, ForgeComment):
        raise TypeError("a forge answers on issues and pull requests only")
    owner, _, name = address.repo.partition("/")
    return joined_url(api_base, "repos", owner, name, "issues", address.number, "comments")


def read_comment(answer: ProviderAnswer, *, address: ReplyAddress, api_base: str) -> Posted | Unclear:
    """Return the comment of a successful answer; without its id nobody can tell whether it stands."""
    body = json_object(answer)
    object_id = numbered_id(body.get("id"))
    if object_id is None:
        return Unclear(ErrorClass.SERVER, NO_OBJECT_ID)
    link = permalink(body.get("html_url"), address=address, api_base=api_base)
    return Posted(object_id, link, Identity(login=name_at(body, "user", "login")))


def read_user(answer: ProviderAnswer, *, now: datetime) -> Identity | Failed:
    """Return the user of a successful answer."""
    login = name_at(json_object(answer), "login")
    return Identity(login=login) if login else failure(answer, now=now, error_class=ErrorClass.SERVER, code=UNREADABLE)
