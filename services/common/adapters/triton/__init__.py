"""Models served by NVIDIA Triton, over gRPC (KServe v2)."""
