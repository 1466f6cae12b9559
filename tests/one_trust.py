"""The certificates that HTTP clients of tests trust by default, read once for a process and not once for a client.

Reading them takes 50 ms of processor, and hundreds of tests open a client to a server on this machine that has none.
A client that names what it trusts has a context of its own, as everywhere.
"""

import sys
from functools import cache
from typing import Any, Final

_MODULE: Final = "httpx._transports.default"


def share() -> None:
    """Have clients of httpx that say nothing of certificates share one context; call it before any is opened."""
    import httpx

    shared = cache(httpx.create_ssl_context)

    def create(verify: Any = True, cert: Any = None, trust_env: bool = True) -> Any:
        if verify is True and cert is None:
            return shared(trust_env=trust_env)
        return httpx.create_ssl_context(verify=verify, cert=cert, trust_env=trust_env)

    vars(sys.modules[_MODULE])["create_ssl_context"] = create
