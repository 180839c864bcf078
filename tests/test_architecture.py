"""The house holds: imports point down only, each dangerous thing has one door, and surfaces read within reach."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("switchboard", "connections", "replies", "routing", "mcp_bridge")
WIRING = {
    "manage",
    "switchboard.settings",
    "switchboard.urls",
    "switchboard.asgi",
    "switchboard.wsgi",
    "switchboard.celery",
    "switchboard.api.urls",
}
# From the ground up: a module may import its own layer and those before it.
# The providers' files know headers, bytes and values only, so a connection's test may stand on them.
LAYERS = (
    "switchboard",
    "switchboard.accounts",
    "switchboard.todos",
    "replies.providers",
    "connections",
    "replies",
    "routing",
    "mcp_bridge",
)
# What meets the outside may also use the shared edge of its kind.
SHARED_EDGES = ("switchboard.api", "switchboard.web", "switchboard.admin_site")
EDGE_NAMES = {"api", "admin", "views", "urls", "pages", "serializers", "middleware"}
OWNED_MODELS = {"Endpoint", "ApiToken", "Todo", "Webhook", "WebhookRoute", "Event", "Connection", "Reply"}
OPENERS = {"fork", "forkpty", "posix_spawn", "system", "popen", "execv", "execve", "spawnv"}


def modules() -> Iterator[tuple[str, Path]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            if "migrations" not in path.parts:
                name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
                yield name.removesuffix(".__init__"), path


MODULES = dict(modules())
ALL = pytest.mark.parametrize("name", MODULES)


def tree_of(name: str) -> ast.Module:
    return ast.parse(MODULES[name].read_text())


def imports_of(name: str) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree_of(name)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def layer_of(name: str) -> int:
    if within(name, *SHARED_EDGES):
        return LAYERS.index("switchboard.todos")
    return LAYERS.index(max((layer for layer in LAYERS if within(name, layer)), key=len))


def within(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def is_edge(name: str) -> bool:
    return bool(EDGE_NAMES & set(name.split("."))) or within(name, "mcp_bridge", *SHARED_EDGES)


@ALL
def test_imports_point_down_only(name: str) -> None:
    ours = {imported for imported in imports_of(name) if imported in MODULES}
    if name in WIRING:
        return
    shared = {imported for imported in ours if within(imported, *SHARED_EDGES)}
    upward = {imported for imported in ours - shared if layer_of(imported) > layer_of(name)}
    assert not upward
    assert not shared or is_edge(name)


@ALL
def test_nothing_imports_the_wiring(name: str) -> None:
    assert name in WIRING or not imports_of(name) & WIRING


@pytest.mark.parametrize(
    ("libraries", "door"),
    [
        ({"cryptography"}, "switchboard.sealing"),
        (
            {"requests", "urllib3", "httpx", "httpx2", "aiohttp", "http.client", "urllib.request"},
            "switchboard.outbound",
        ),
        ({"subprocess", "multiprocessing", "pty"}, "routing.sandbox"),
        ({"jq"}, "routing.sandbox"),
    ],
)
@ALL
def test_each_dangerous_library_has_one_door(name: str, libraries: set[str], door: str) -> None:
    used = {imported for imported in imports_of(name) if within(imported, *libraries)}
    assert not used or within(name, door)


@ALL
def test_processes_are_started_in_the_sandbox_only(name: str) -> None:
    started = {
        node.attr
        for node in ast.walk(tree_of(name))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os"
    }
    assert not started & OPENERS or within(name, "routing.sandbox")


@ALL
def test_a_todos_state_changes_in_the_lifecycle_only(name: str) -> None:
    if name == "switchboard.todos.lifecycle":
        return
    for node in ast.walk(tree_of(name)):
        if isinstance(node, ast.Call) and isinstance(node.func, (ast.Attribute, ast.Name)):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
            keywords = {keyword.arg for keyword in node.keywords}
            assert called not in {"update", "Todo", "create"} or "state" not in keywords
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            assert not any(isinstance(target, ast.Attribute) and target.attr == "state" for target in targets)


@ALL
def test_a_surface_reads_owned_models_within_reach_only(name: str) -> None:
    if not is_edge(name):
        return
    for node in ast.walk(tree_of(name)):
        if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute)):
            continue
        manager = node.value
        owner = manager.value.id if isinstance(manager.value, ast.Name) else None
        if manager.attr in {"objects", "_default_manager"} and owner in OWNED_MODELS:
            assert node.attr == "within_reach"


@ALL
def test_every_module_says_what_it_is_for(name: str) -> None:
    assert ast.get_docstring(tree_of(name))


def test_the_sandbox_child_needs_neither_django_nor_settings() -> None:
    child = {name for name in MODULES if within(name, "routing.sandbox")}
    assert not {
        imported for name in child for imported in imports_of(name) if within(imported, "django", "switchboard")
    }
