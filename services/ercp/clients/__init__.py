"""The ERCP service's ports over gRPC."""
