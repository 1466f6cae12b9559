"""What may be talked to over HTTP: hosts that the operator listed; by plaintext loopback alone (ADR 0057)."""

from collections.abc import Sequence
from urllib.parse import urlsplit


def host_of(url: str) -> str:
    """Return a url's host, lower case, without brackets; empty when it has none."""
    return (urlsplit(url).hostname or "").lower()


def check_outgoing(name: str, url: str, allowed_hosts: Sequence[str], private_hosts: Sequence[str]) -> None:
    """Refuse a url that cannot be used or that the lists do not allow.

    Args:
        name: of the setting, for the message.
        url: to be checked.
        allowed_hosts: which may be talked to.
        private_hosts: which of them may have private and loopback addresses.

    Raises:
        ValueError: says what is wrong.
    """
    parts = urlsplit(url)
    readable = parts.scheme in {"http", "https"} and parts.hostname and all("!" <= c <= "~" for c in url)
    if not readable or parts.port == 0:  # reading the port refuses one that is no number
        raise ValueError(f"{name} must be https://host/path, in ASCII")
    if parts.username or parts.password or parts.fragment:
        raise ValueError(f"{name} must hold no user, password or fragment; a token goes into bearer_token_file")
    host, allowed, private = host_of(url), _lower(allowed_hosts), _lower(private_hosts)
    if host not in allowed:
        raise ValueError(f"{name}: allowed_hosts must hold its host, {host}")
    if stray := sorted(private - allowed):
        raise ValueError(f"private_hosts: allowed_hosts must hold {', '.join(stray)} too")
    if parts.scheme == "http" and host not in private:
        raise ValueError(f"{name} must be https, but for a loopback address whose host is in private_hosts")


def _lower(hosts: Sequence[str]) -> set[str]:
    return {host.lower() for host in hosts}
