"""Fixed paths are answered without a search; what has parameters goes the framework's way, and both answer alike."""

import httpx
import pytest
from fastapi import APIRouter, FastAPI, Request
from starlette.responses import JSONResponse, Response

from services.gateway.doors.http.fixed_paths import FixedPaths, fixed_endpoints


async def _told(request: Request) -> Response:
    body = (await request.body()).decode()
    return JSONResponse({"path": request.url.path, "body": body, "parameters": request.path_params})


async def _asked(name: str) -> dict[str, str]:
    return {"name": name}


def _plain(request: Request) -> Response:
    return Response(request.url.path)


def _router() -> APIRouter:
    router = APIRouter()
    router.add_api_route("/told", _told, methods=["POST", "GET"])
    router.add_api_route("/told/{name}", _told, methods=["GET"])
    router.add_api_route("/asked", _asked, methods=["GET"])
    router.add_api_route("/plain", _plain, methods=["GET"])
    return router


def test_only_endpoints_that_take_the_request_alone_at_a_fixed_path_are_found():
    assert fixed_endpoints(_router()) == {("POST", "/told"): _told, ("GET", "/told"): _told}


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/told"), ("GET", "/told"), ("GET", "/told/a"), ("GET", "/asked?name=b"), ("PUT", "/told"), ("GET", "/")],
)
async def test_with_and_without_the_answers_are_the_same(method, path):
    router, apps = _router(), [FastAPI(), FastAPI()]
    apps[0].add_middleware(FixedPaths, endpoints=fixed_endpoints(router))
    found = []
    for app in apps:
        app.include_router(router)
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://door") as http:
            response = await http.request(method, path, content="text")
        found.append((response.status_code, dict(response.headers), response.content))
    assert found[0] == found[1]
