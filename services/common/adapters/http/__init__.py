"""Talking to HTTP endpoints that an operator named."""

from services.common.adapters.http.event_endpoint import HttpEventEndpoint, open_event_endpoint

__all__ = ["HttpEventEndpoint", "open_event_endpoint"]
