"""The project's paths and the floor view beside them."""

from django.urls import path

from bench.floor import floor
from switchboard.urls import urlpatterns as project

urlpatterns = [path("bench/floor", floor), *project]
