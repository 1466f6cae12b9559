"""``crp.dpe.v1.GuardService``: validate, convert, ask the app, convert."""

from crp.dpe.v1 import guard_service_pb2_grpc as pb_grpc


class GuardServicer(pb_grpc.GuardServiceServicer):
    """Translates between the wire and the apps."""
