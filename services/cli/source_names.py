"""Which source a person means: by its id, or by the uri or title under which the list shows it."""

import re
from typing import Final

from crp.ckf.v1 import ckf_pb2 as ckf
from crp.ckf.v1 import knowledge_service_pb2 as knowledge

from services.cli.connection import Suite
from services.common.errors import FieldViolation, InvalidRequestError

_PAGE: Final = 100
_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


async def all_sources(suite: Suite) -> list[ckf.Source]:
    """Return every source, the latest first, erased ones included."""
    found: list[ckf.Source] = []
    token = ""
    while True:
        request = knowledge.ListSourcesRequest(page_size=_PAGE, page_token=token)
        page: knowledge.ListSourcesResponse = await suite.call(suite.knowledge.ListSources, request)
        found.extend(page.sources)
        token = page.next_page_token
        if not token:
            return sorted(found, key=lambda each: (each.ingested_at.ToNanoseconds(), each.source_id), reverse=True)


def called(source: ckf.Source) -> str:
    """Return what people call a source: its title, its address, and the day on which it came."""
    name = source.uri or source.source_id
    known = f"{source.title} ({name})" if source.title and source.title != name else name
    return f"{known} of {source.ingested_at.ToDatetime():%Y-%m-%d}"


async def source_id_of(suite: Suite, named: str, place: str = "SOURCE") -> str:
    """Return the id of the source that a person names.

    Args:
        suite: where the sources are.
        named: an id, a uri with or without ``file:``, or a title that one source alone has.
        place: the argument, for errors.

    Raises:
        InvalidRequestError: no source is called so, or several are.
    """
    if _ID.fullmatch(named):
        return named
    sources = await all_sources(suite) if named else []
    by_uri = [each for each in sources if each.uri and each.uri in {named, f"file:{named}"}]
    found = by_uri or [each for each in sources if each.title and each.title == named]
    if len(found) == 1:
        return found[0].source_id
    if found:
        uris = ", ".join(each.uri or each.source_id for each in found)
        raise InvalidRequestError.of(FieldViolation(place, f"several sources are called {named}: {uris}"))
    why = "must name a source" if not named else f"no source is called {named}"
    raise InvalidRequestError.of(FieldViolation(place, f"{why}; `groundtrail sources` lists them"))
