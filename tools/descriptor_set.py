"""Write the descriptor set that Envoy transcodes with: every proto of ours, and the details that errors carry.

    python tools/descriptor_set.py groundtrail.pb

It is taken from the generated stubs, so that it needs nothing but the runtime's own dependencies and cannot differ from
what the servers speak.
"""

import importlib
import pkgutil
import sys
from pathlib import Path

import crp
import ercp
from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.rpc import error_details_pb2, status_pb2


def contract_files() -> list[FileDescriptor]:
    """Return the file descriptors of every generated module, and of ``google.rpc``'s status and error details."""
    stubs = [
        module.name
        for package in (crp, ercp)
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        if module.name.endswith("_pb2")
    ]
    return [
        status_pb2.DESCRIPTOR,
        error_details_pb2.DESCRIPTOR,
        *(importlib.import_module(name).DESCRIPTOR for name in stubs),
    ]


def descriptor_set() -> FileDescriptorSet:
    """Return all files with their imports, each after what it imports, in a fixed order."""
    ordered: dict[str, FileDescriptorProto] = {}

    def add(file: FileDescriptor) -> None:
        if file.name in ordered:
            return
        for dependency in file.dependencies:
            add(dependency)
        proto = FileDescriptorProto()
        file.CopyToProto(proto)
        ordered[file.name] = proto

    for file in sorted(contract_files(), key=lambda file: file.name):
        add(file)
    return FileDescriptorSet(file=ordered.values())


def main() -> None:
    """Write the set to the path that the command line names."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    Path(sys.argv[1]).write_bytes(descriptor_set().SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
