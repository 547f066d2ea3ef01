#!/usr/bin/env python3
"""Collects the protocol descriptors inside installed Python packages into one FileDescriptorSet.

extract_protos.py SITE_PACKAGES DESCRIPTORS_OUT LIST_OUT

Every generated *_pb2.py holds one call AddSerializedFile(b'...') whose argument is a serialised FileDescriptorProto. The
modules are read as text (ast), never imported: that needs only the standard library and takes a twentieth of a second.
Files come out sorted by proto name and outputs are rewritten only when they differ, so that nothing downstream is rebuilt.
LIST_OUT gets the proto names, one a line.
"""
import ast
import pathlib
import sys

# Proto files the server speaks. Everything they import must be in the list too, google/protobuf apart.
SOURCES = {
    "pyspark/sql/connect/proto": (
        "base", "catalog", "commands", "common", "expressions", "ml", "ml_common", "pipelines", "relations", "types"),
    "delta/connect/proto": ("base", "commands", "relations"),
    "google/rpc": ("code", "error_details", "status"),
}


class ExtractError(Exception):
    """A package is missing or is not what a protocol compiler writes."""


def serialized_file(text, name):
    """The bytes of the one FileDescriptorProto inside the text of a _pb2 module."""
    found = [
        ast.literal_eval(node.args[0]) for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        and node.func.attr == "AddSerializedFile" and len(node.args) == 1
    ]
    if len(found) != 1 or not isinstance(found[0], bytes):
        raise ExtractError(f"{name}: expected one AddSerializedFile call, found {len(found)}")
    return found[0]


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def proto_name(descriptor):
    """Field 1 of a FileDescriptorProto: the path of the proto file. Protocol compilers write it first."""
    if len(descriptor) < 2 or descriptor[0] != 0x0A:
        raise ExtractError("a descriptor does not begin with its name")
    length, at, shift = 0, 1, 0
    while True:
        byte = descriptor[at]
        length |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            break
    return descriptor[at:at + length].decode()


def collect(site_packages):
    """Proto name -> serialised descriptor, for every file of SOURCES."""
    files = {}
    for folder, modules in SOURCES.items():
        for module in modules:
            path = site_packages / folder / f"{module}_pb2.py"
            if not path.exists():
                raise ExtractError(f"{path} is not there: run tools/setup.sh")
            descriptor = serialized_file(path.read_text(), str(path))
            files[proto_name(descriptor)] = descriptor
    return dict(sorted(files.items()))


def write_if_changed(path, data):
    if path.exists() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def main(arguments):
    if len(arguments) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        files = collect(pathlib.Path(arguments[0]))
    except (ExtractError, OSError, SyntaxError) as error:
        print(f"extract_protos: {error}", file=sys.stderr)
        return 1
    out = b"".join(b"\x0a" + varint(len(data)) + data for data in files.values())
    write_if_changed(pathlib.Path(arguments[1]), out)
    write_if_changed(pathlib.Path(arguments[2]), "".join(f"{name}\n" for name in files).encode())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
