"""The only place where a vendor's SDK is imported; one package a technology."""
