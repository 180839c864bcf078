"""The paths of the bridge: below /mcp/, and those that clients ask for on the origin."""

from django.urls import path

from mcp_bridge import views

urlpatterns = [
    path("<str:slug>", views.serve, name="mcp"),
    path("<str:slug>/", views.serve, name="mcp-slash"),
]

origin_urlpatterns = [
    path(".well-known/<path:rest>", views.not_here, name="well-known"),
    path("register", views.not_here, name="register"),
]
