"""Talking to HTTP endpoints that an operator named."""

from services.common.adapters.http.event_endpoint import HttpEventEndpoint, open_event_endpoint
from services.common.adapters.http.log_signer import HttpLogSigner, open_log_signer
from services.common.adapters.http.witness import HttpWitness

__all__ = ["HttpEventEndpoint", "HttpLogSigner", "HttpWitness", "open_event_endpoint", "open_log_signer"]
