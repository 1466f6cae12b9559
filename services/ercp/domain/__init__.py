"""What ERCP decides, without I/O: predicates, their solver, operators and the loop."""
