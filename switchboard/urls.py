"""Every path of the instance, by the app that answers it."""

from django.contrib import admin
from django.urls import include, path

from mcp_bridge.urls import origin_urlpatterns
from switchboard import health
from switchboard.web import fallback

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("", include("routing.urls")),
    path("mcp/", include("mcp_bridge.urls")),
    path("", include(origin_urlpatterns)),
    path("api/v1/", include("switchboard.api.urls")),
    path("admin/r/<path:rest>", fallback.no_such_page),
    path("admin/", admin.site.urls),
    path("", include("switchboard.web.urls")),
]

handler400 = "switchboard.web.fallback.bad_request"
handler403 = "switchboard.web.fallback.permission_denied"
handler404 = "switchboard.web.fallback.not_found"
handler500 = "switchboard.web.fallback.server_error"
