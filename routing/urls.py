"""The ingest URL, with and without a final slash: a redirect would turn a sender's POST into a GET."""

from django.urls import path

from routing import views

urlpatterns = [
    path("webhooks/w/<str:token>", views.ingest, name="ingest"),
    path("webhooks/w/<str:token>/", views.ingest, name="ingest-slash"),
]
