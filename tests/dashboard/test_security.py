"""Every route and method: foreign requests are refused, nothing can be changed, and a token protects everything."""

from __future__ import annotations

import pytest
from dashboards import client_of, make_network_study, make_study

from manyarms.dashboard.app import Dashboard
from manyarms.dashboard.security import is_local
from manyarms.dashboard.studies import Studies

PATHS = [
    "/",
    "/static/style.css",
    "/static/plotly.js",
    "/api/studies",
    "/api/study/1",
    "/api/study/1/arms",
    "/api/study/1/arm/0",
    "/api/study/2/arm/0/network.svg",
    "/api/study/1/failures",
    "/api/study/1/chart/history",
]
STREAMS = ["/api/changes", "/api/study/1/changes"]
OTHERS = ["/nowhere", "/api/study/1/nothing"]
EVERYWHERE = [*PATHS, *STREAMS, *OTHERS]
METHODS = ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "BREW"]


@pytest.fixture(scope="module")
def storage(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("storage") / "study.db")
    make_study(path, budget=10)
    make_network_study(path, budget=10)
    return path


@pytest.fixture
def client(storage):
    with client_of(storage) as client:
        yield client


def test_the_paths_above_cover_all_routes(storage):
    routes = Dashboard(Studies(storage)).routes()
    for route in routes:
        assert any(route.path_regex.match(path) for path in PATHS + STREAMS), route.path
        assert route.methods == {"GET", "HEAD"}


@pytest.mark.parametrize("path", PATHS)
def test_a_request_of_the_page_is_answered_and_a_head_has_no_body(client, path):
    assert client.get(path).status_code == 200
    answer = client.head(path)
    assert answer.status_code == 200 and answer.content == b""


@pytest.mark.parametrize("path", STREAMS)
def test_a_head_of_a_stream_ends(client, path):
    answer = client.head(path)
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/event-stream")


@pytest.mark.parametrize("path", EVERYWHERE)
@pytest.mark.parametrize("method", METHODS)
def test_other_methods_are_not_allowed(client, path, method):
    answer = client.request(method, path)
    assert answer.status_code == 405 and answer.headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize("path", EVERYWHERE)
@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8899", "10.0.0.1", "", "[::2]"]
)
def test_a_foreign_host_is_refused(client, path, host):
    for method in ("GET", "HEAD", "POST"):
        assert client.request(method, path, headers={"host": host}).status_code == 403


@pytest.mark.parametrize("host", ["127.0.0.1:8899", "localhost:9000", "LOCALHOST", "[::1]:8899"])
def test_all_names_of_this_machine_are_its_own_also_through_a_tunnel(client, host):
    assert client.get("/api/studies", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("path", EVERYWHERE)
@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "http://localhost:3000"},
        {"origin": "http://127.0.0.1"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
        {"sec-fetch-site": "same-site", "sec-fetch-mode": "cors"},
    ],
)
def test_a_request_from_another_site_is_refused(client, path, headers):
    for method in ("GET", "HEAD", "POST"):
        assert client.request(method, path, headers=headers).status_code == 403


def test_a_link_on_another_site_and_requests_of_the_page_itself_are_answered(client):
    assert client.get("/", headers={"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}).status_code == 200
    own = {"origin": "http://127.0.0.1:8899", "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}
    assert client.get("/api/studies", headers=own).status_code == 200


@pytest.mark.parametrize("path", EVERYWHERE)
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_every_answer_restricts_what_a_page_may_do(client, path, method):
    if method == "GET" and path in STREAMS:
        pytest.skip("a stream does not end")
    headers = client.request(method, path).headers
    policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'" and policy["script-src"] == "'self'" and policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert headers["x-content-type-options"] == "nosniff" and headers["referrer-policy"] == "no-referrer"
    assert headers["x-frame-options"] == "DENY" and headers["cross-origin-resource-policy"] == "same-origin"
    assert "access-control-allow-origin" not in headers
    assert "no-store" in headers["cache-control"] or path == "/" or path.startswith("/static")


@pytest.mark.parametrize("path", EVERYWHERE)
def test_with_a_token_nothing_is_answered_without_it(storage, path):
    with client_of(storage, host="0.0.0.0", token="secret-token") as client:
        for method in ("GET", "HEAD"):
            answer = client.request(method, path)
            assert answer.status_code == 403 and "set-cookie" not in answer.headers
            assert client.request(method, path, params={"token": "wrong-token"}).status_code == 403
            assert client.request(method, path, params={"token": ""}).status_code == 403
            assert client.request(method, path, headers={"cookie": "cookie=wrong"}).status_code == 403
            assert client.request(method, path, headers={"cookie": 'cookie="; =bad'}).status_code == 403


def test_a_token_is_given_once_and_kept_in_a_strict_cookie_that_scripts_cannot_read(storage):
    with client_of(storage, host="0.0.0.0", token="secret-token") as client:
        answer = client.get("/?token=secret-token&x=1")
        cookie = answer.headers["set-cookie"].lower()
        assert answer.status_code == 200 and "httponly" in cookie and "samesite=strict" in cookie
        assert "secret-token" not in answer.text and "/?x=1" in answer.text
        assert client.get("/api/studies").status_code == 200


@pytest.mark.parametrize("path", ["//evil.example/", "/%2F/evil.example", '/"><script>', "/\\evil.example"])
def test_the_address_after_signing_in_stays_on_this_server(storage, path):
    with client_of(storage, host="0.0.0.0", token="secret-token") as client:
        answer = client.get(f"http://127.0.0.1:8899{path}?token=secret-token")
        address = answer.text.partition("url=")[2].partition('"')[0]
        assert address.startswith("/") and not address.startswith("//") and "\\" not in address and "<script" not in answer.text


@pytest.mark.parametrize("host", ["10.1.2.3:8899", "[fe80::1]:8899", "127.0.0.1"])
def test_a_server_for_all_machines_is_reached_by_address_but_not_by_foreign_names(storage, host):
    with client_of(storage, host="0.0.0.0", token="secret-token") as client:
        assert client.get("/?token=secret-token", headers={"host": host}).status_code == 200
        assert client.get("/?token=secret-token", headers={"host": "evil.example"}).status_code == 403


@pytest.mark.parametrize(
    "name",
    [
        "../app.py",
        "..%2Fapp.py",
        "%2e%2e/app.py",
        "..%5Capp.py",
        "/etc/passwd",
        "%2Fetc%2Fpasswd",
        "style.css/..",
        "index.html%00",
        "",
    ],
)
def test_only_the_files_of_the_page_can_be_read(client, name):
    answer = client.get(f"/static/{name}")
    assert answer.status_code == 404 and "import" not in answer.text and "root:" not in answer.text


def test_only_addresses_of_this_machine_are_local():
    assert all(map(is_local, ["127.0.0.1", "127.1.2.3", "localhost", "::1"]))
    assert not any(map(is_local, ["0.0.0.0", "::", "10.0.0.1", "example.org", ""]))
