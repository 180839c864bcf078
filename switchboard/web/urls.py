"""The pages' paths; until there are more, the admin is the page that people come to."""

from django.urls import path
from django.views.generic import RedirectView

urlpatterns = [
    path("", RedirectView.as_view(url="/admin/"), name="board"),
    path("login/", RedirectView.as_view(url="/admin/login/", query_string=True), name="login"),
]
