"""What all services may share: errors, ids, clock, encoding, settings, ports, adapters, the RPC runtime."""
