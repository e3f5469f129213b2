"""The web application: the page, and the JSON that it shows."""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache, partial
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from ..errors import StudyNotFound
from ..html.page import stylesheet
from ..version import __version__
from .arms import FIXED, MOST_ROWS, Query
from .columns import STATUSES
from .reader import Unreadable
from .studies import CANNOT_READ, Studies
from .watch import Watch

_MOST_LISTENERS = 100
_TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
_PLOTLY = "plotly.js"


class Json(Response):
    """JSON without NaN, which browsers cannot read."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The content as text."""
        return json.dumps(content, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()


class Dashboard:
    """Answers requests.

    Args:
        studies: The studies of the storage.
    """

    def __init__(self, studies: Studies) -> None:
        self._studies = studies
        self._watches: dict[int | None, Watch] = {}

    def routes(self) -> list[Route]:
        """All routes. Each only reads."""
        study = "/api/study/{number:int}"
        return [
            Route("/", self.page),
            Route("/static/{name}", self.static),
            Route("/api/studies", self.list),
            Route("/api/changes", self.changes),
            Route(study, self.study),
            Route(f"{study}/changes", self.changes),
            Route(f"{study}/arms", self.arms),
            Route(f"{study}/arm/{{arm:int}}", self.arm),
            Route(f"{study}/arm/{{arm:int}}/network.svg", self.network),
            Route(f"{study}/failures", self.failures),
            Route(f"{study}/chart/{{name}}", self.chart),
        ]

    def page(self, request: Request) -> Response:
        """The page."""
        return _static("index.html")

    def static(self, request: Request) -> Response:
        """A file of the page. Only the files of the package can be named."""
        name = request.path_params["name"]
        if name != _PLOTLY and name not in _contents():
            raise HTTPException(404, "There is no such file.")
        return _plotly(request) if name == _PLOTLY else _static(name)

    def list(self, request: Request) -> Response:
        """The list of studies."""
        return Json(self._studies.list())

    def study(self, request: Request) -> Response:
        """The facts and totals of a study."""
        return Json(self._studies.study(_number(request)))

    def arms(self, request: Request) -> Response:
        """A page of the table of arms."""
        number = _number(request)
        return Json(self._studies.arms(number, _query(request, self._studies.column_names(number))))

    def arm(self, request: Request) -> Response:
        """Everything about one arm."""
        arm = request.path_params["arm"]
        return _found(self._studies.arm(_number(request), arm), f"The study has no arm {arm}.")

    def network(self, request: Request) -> Response:
        """The drawing of the network of an arm. Browsers run no scripts in it, because the page shows it as an image."""
        drawing = self._studies.network(_number(request), request.path_params["arm"])
        if drawing is None:
            raise HTTPException(404, "This arm has no drawing.")
        return Response(drawing.svg, media_type=_TYPES["svg"])

    def failures(self, request: Request) -> Response:
        """The failures by reason."""
        return Json(self._studies.failures(_number(request)))

    def chart(self, request: Request) -> Response:
        """A chart as a plotly figure."""
        name, known = request.path_params["name"], request.query_params.get("known", "")
        return _found(self._studies.chart(_number(request), name, known), "There is no such chart.")

    async def changes(self, request: Request) -> Response:
        """A stream of messages, one whenever the list or a study has changed."""
        number = request.path_params.get("number")
        if request.method == "HEAD":
            return Response(media_type="text/event-stream")
        if sum(watch.listeners for watch in self._watches.values()) >= _MOST_LISTENERS:
            raise HTTPException(503, "Too many pages are open.")
        self._watches = {known: watch for known, watch in self._watches.items() if watch.listeners or known == number}
        if number not in self._watches:
            self._watches[number] = Watch(_poll(self._studies, number), partial(self._studies.rest, number))
        return StreamingResponse(self._watches[number].listen(), media_type="text/event-stream")

    def stop_streams(self) -> None:
        """End all streams, so that the server can stop."""
        for watch in self._watches.values():
            watch.close()

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """Close all connections at the end."""
        yield
        self.stop_streams()
        self._studies.close()


def make_app(dashboard: Dashboard) -> Starlette:
    """The application without its guard. See `security.Guard`."""
    handlers: dict[Any, Any] = {Unreadable: _unreadable, StudyNotFound: _not_found, HTTPException: _refused}
    return Starlette(routes=dashboard.routes(), exception_handlers=handlers, lifespan=dashboard.lifespan)


def _poll(studies: Studies, number: int | None) -> Callable[[], dict[str, Any]]:
    return studies.changes if number is None else partial(studies.study_changes, number)


def _number(request: Request) -> int:
    number: int = request.path_params["number"]
    if number >= 2**31:  # larger than any number of a study
        raise StudyNotFound(f"there is no study with number {number}")
    return number


def _query(request: Request, names: set[str]) -> Query:
    """The query for arms in the parameters of a request. Columns that do not exist yet are empty."""
    given = request.query_params
    sort, status = given.get("sort", "best_reward"), given.get("status", "")
    if status not in ("", *STATUSES):
        raise HTTPException(400, f"status must be one of {', '.join(STATUSES)}.")
    columns = tuple(dict.fromkeys(name for name in given.getlist("column") if name in names)) or tuple(FIXED)
    return Query(
        sort=sort if sort in names else "arm",
        descending=given.get("order", "desc") != "asc",
        text=given.get("text", ""),
        status=status,
        columns=columns,
        offset=_whole(given.get("offset", "0"), 0, 10**9),
        limit=_whole(given.get("limit", "100"), 1, MOST_ROWS),
    )


def _whole(text: str, low: int, high: int) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > 10:
        raise HTTPException(400, "offset and limit must be whole numbers.")
    return min(max(int(text), low), high)


def _found(value: dict[str, Any] | None, missing: str) -> Response:
    return Json({"error": missing}, 404) if value is None else Json(value)


def _unreadable(_: Request, error: Exception) -> Response:
    return Json({"error": CANNOT_READ, "detail": str(error)}, 503)


def _not_found(_: Request, error: Exception) -> Response:
    return Json({"error": "There is no such study."}, 404)


def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return PlainTextResponse(error.detail, error.status_code, error.headers)


@cache
def _contents() -> dict[str, bytes]:
    """The files of the page, by name."""
    folder = files(__package__).joinpath("static")
    found = {file.name: file.read_bytes() for file in folder.iterdir() if file.name.rpartition(".")[2] in _TYPES}
    return found | {"style.css": stylesheet().encode()}


def _static(name: str) -> Response:
    return Response(_contents()[name], media_type=_TYPES[name.rpartition(".")[2]], headers={"cache-control": "no-cache"})


@cache
def _plotly_script() -> bytes:
    """The script that draws charts, compressed."""
    from plotly.offline import get_plotlyjs

    return gzip.compress(get_plotlyjs().encode(), compresslevel=1)


def _plotly(request: Request) -> Response:
    """The script that draws charts. It is large, so that browsers keep it as long as the version is the same."""
    import plotly

    tag = f'"plotly-{plotly.__version__}-{__version__}"'
    headers = {"etag": tag, "cache-control": "private, no-cache", "vary": "accept-encoding"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    script, encoding = _plotly_script(), {"content-encoding": "gzip"}
    if "gzip" not in request.headers.get("accept-encoding", ""):
        script, encoding = gzip.decompress(script), {}
    return Response(script, media_type=_TYPES["js"], headers=headers | encoding)
