"""Fixed paths are answered without a search; what has parameters goes the framework's way, and both answer alike."""

import httpx
import pytest
from fastapi import APIRouter, FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.routing import Match

from services.gateway.doors.http.fixed_paths import FixedPaths, fixed_endpoints


async def _told(request: Request) -> Response:
    body = (await request.body()).decode()
    return JSONResponse({"path": request.url.path, "body": body, "parameters": request.path_params})


async def _asked(name: str) -> dict[str, str]:
    return {"name": name}


def _plain(request: Request) -> Response:
    return Response(request.url.path)


async def _first(request: Request) -> Response:
    return Response("first")


async def _second(request: Request) -> Response:
    return Response("second")


async def _refused(request: Request) -> Response:
    raise HTTPException(418, "a teapot", {"Retry-After": "7"})


def _router() -> APIRouter:
    router = APIRouter()
    router.add_api_route("/told", _told, methods=["POST", "GET"])
    router.add_api_route("/told/{name}", _told, methods=["GET"])
    router.add_api_route("/asked", _asked, methods=["GET"])
    router.add_api_route("/plain", _plain, methods=["GET"])
    router.add_api_route("/twice", _first, methods=["GET"])
    router.add_api_route("/refused", _refused, methods=["GET"])
    return router


def _another() -> APIRouter:
    router = APIRouter()
    router.add_api_route("/twice", _second, methods=["GET", "POST"])
    return router


def test_only_endpoints_that_take_the_request_alone_at_a_fixed_path_are_found():
    assert fixed_endpoints(_router(), _another()) == {
        ("POST", "/told"): _told,
        ("GET", "/told"): _told,
        ("GET", "/twice"): _first,
        ("GET", "/refused"): _refused,
        ("POST", "/twice"): _second,
    }


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/told", 200),
        ("GET", "/told", 200),
        ("GET", "/told/a", 200),
        ("GET", "/told/", 404),
        ("GET", "//told", 404),
        ("GET", "/asked?name=b", 200),
        ("PUT", "/told", 405),
        ("GET", "/", 404),
        ("GET", "/twice", 200),
        ("POST", "/twice", 200),
        ("GET", "/refused", 418),
    ],
)
async def test_with_and_without_the_answers_are_the_same(method, path, status):
    routers, apps = (_router(), _another()), [FastAPI(redirect_slashes=False) for _ in range(2)]
    apps[0].router.routes.append(FixedPaths(fixed_endpoints(*routers)))
    found = []
    for app in apps:
        for router in routers:
            app.include_router(router)
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://door") as http:
            response = await http.request(method, path, content="text")
        found.append((response.status_code, dict(response.headers), response.content))
    assert found[0] == found[1]
    assert found[0][0] == status


def test_other_protocols_and_names_of_routes_are_the_frameworks():
    app = FastAPI()
    fixed = FixedPaths(fixed_endpoints(_router()))
    app.router.routes.append(fixed)
    app.include_router(_router())
    assert fixed.matches({"type": "websocket", "path": "/told"}) == (Match.NONE, {})
    assert app.url_path_for("_refused") == "/refused"
