"""The certificates that endpoints are proven by, read once for the process."""

import ssl
from functools import cache

import httpx


@cache
def trusted() -> ssl.SSLContext:
    """Return the context of the certificates that httpx trusts; reading them takes 20 to 50 ms of processor."""
    return httpx.create_ssl_context(trust_env=False)
