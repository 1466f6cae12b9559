"""What requests must look like; every violation of a request is reported at once."""
