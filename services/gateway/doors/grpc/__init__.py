"""DispatchService and AdminService over gRPC."""
