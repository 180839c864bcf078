"""The paths of the operator API, the apps' routes put together."""

from django.urls import path, re_path
from drf_spectacular.renderers import (
    OpenApiJsonRenderer,
    OpenApiJsonRenderer2,
    OpenApiYamlRenderer,
    OpenApiYamlRenderer2,
)
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from connections import api as connections
from replies import api as replies
from routing import api as routing
from switchboard.accounts import api as accounts
from switchboard.api.fallback import answer_other_spelling
from switchboard.api.views import FirstRenderer
from switchboard.todos import api as todos

WEBHOOK = "webhooks/<str:webhook_id>"
CONNECTION = "connections/<str:connection_id>"

# Both are public: they describe the product and hold nothing of a tenant.
schema = SpectacularAPIView.as_view(
    authentication_classes=[],
    renderer_classes=[OpenApiJsonRenderer2, OpenApiJsonRenderer, OpenApiYamlRenderer, OpenApiYamlRenderer2],
)
docs = SpectacularSwaggerSplitView.as_view(
    authentication_classes=[],
    content_negotiation_class=FirstRenderer,
    template_name="api/docs.html",
    url_name="api-schema",
)

urlpatterns = [
    path("schema/", schema, name="api-schema"),
    path("docs/", docs, name="api-docs"),
    path("endpoints", accounts.Endpoints.as_view()),
    path("endpoints/<str:ref>", accounts.OneEndpoint.as_view()),
    path("endpoints/<str:ref>/webhooks", routing.EndpointWebhooks.as_view()),
    path("tokens", accounts.Tokens.as_view()),
    path("tokens/<str:token_id>", accounts.OneToken.as_view()),
    path("webhooks", routing.Webhooks.as_view()),
    path(WEBHOOK, routing.OneWebhook.as_view()),
    path(f"{WEBHOOK}/rotate", routing.Rotation.as_view()),
    path(f"{WEBHOOK}/secret", routing.SigningSecret.as_view()),
    path(f"{WEBHOOK}/rules", routing.Rules.as_view()),
    path(f"{WEBHOOK}/rules/test", routing.RulesTest.as_view(), {"rule_id": "test"}),
    path(f"{WEBHOOK}/rules/<str:rule_id>", routing.OneRule.as_view()),
    path(f"{WEBHOOK}/rules/<str:rule_id>/move", routing.RuleMove.as_view()),
    path(f"{WEBHOOK}/rule-pack", routing.InstalledPack.as_view()),
    path("rule-packs", routing.RulePacks.as_view()),
    path(f"{WEBHOOK}/routes", routing.WebhookRoutes.as_view()),
    path(f"{WEBHOOK}/routes/<str:endpoint_id>", routing.WebhookRoute.as_view()),
    path("routes", routing.Routes.as_view()),
    path("routes/<str:route_id>", routing.OneRoute.as_view()),
    path("routes/<str:route_id>/approve", routing.Approval.as_view()),
    path("events", routing.Events.as_view()),
    path("events/<str:event_id>", routing.OneEvent.as_view()),
    path("todos", todos.Todos.as_view()),
    path("todos/<str:todo_id>", todos.OneTodo.as_view()),
    path("todos/<str:todo_id>/retry", todos.Retry.as_view()),
    path("todos/<str:todo_id>/release", todos.Release.as_view()),
    path("todos/<str:todo_id>/complete", todos.Complete.as_view()),
    path("todos/<str:todo_id>/fail", todos.Fail.as_view()),
    path("todos/<str:todo_id>/replies", replies.TodoReplies.as_view()),
    path("connections", connections.Connections.as_view()),
    path(CONNECTION, connections.OneConnection.as_view()),
    path(f"{CONNECTION}/secret", connections.ConnectionSecret.as_view()),
    path(f"{CONNECTION}/test", connections.ConnectionTest.as_view()),
    path(f"{CONNECTION}/replies", replies.ConnectionReplies.as_view()),
    re_path("", answer_other_spelling),
]
