"""The ways into the gateway. Each door checks, converts and serves; what it serves is decided behind it."""
