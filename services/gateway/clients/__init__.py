"""The gateway's ports over gRPC and over its own store."""
