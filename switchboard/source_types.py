"""The kinds of producer that a webhook can be for."""

from enum import StrEnum


class Source(StrEnum):
    GITHUB = "github"
    GITEA = "gitea"
    SLACK = "slack"
    STRIPE = "stripe"
    CAIRN = "cairn"
    GENERIC = "generic"
