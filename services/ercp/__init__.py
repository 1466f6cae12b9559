"""ERCP 1.0: generate, verify, extract constraints, stabilise, mutate; a loop over them that ends."""
