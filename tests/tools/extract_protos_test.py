"""Promise: the descriptor set holds every message file of the installed clients and is the same at each run."""
import importlib.util
import pathlib

import pytest
from google.protobuf import descriptor_pb2
from tools.tool_modules import load

extract_protos = load("extract_protos")


def site_packages():
    return pathlib.Path(importlib.util.find_spec("pyspark").origin).parents[1]


def test_the_set_holds_the_files_and_every_import_but_the_well_known(tmp_path):
    assert extract_protos.main([str(site_packages()), str(tmp_path / "set.pb"), str(tmp_path / "list.txt")]) == 0
    files = descriptor_pb2.FileDescriptorSet.FromString((tmp_path / "set.pb").read_bytes()).file
    names = [file.name for file in files]
    assert names == sorted(names) == (tmp_path / "list.txt").read_text().split()
    assert {"spark/connect/base.proto", "delta/connect/relations.proto", "google/rpc/status.proto"} <= set(names)
    wanted = {name for file in files for name in file.dependency if not name.startswith("google/protobuf/")}
    assert wanted <= set(names)
    base = next(file for file in files if file.name == "spark/connect/base.proto")
    assert "ExecutePlan" in [method.name for service in base.service for method in service.method]


def test_a_second_run_writes_nothing(tmp_path):
    arguments = [str(site_packages()), str(tmp_path / "set.pb"), str(tmp_path / "list.txt")]
    extract_protos.main(arguments)
    stamp = (tmp_path / "set.pb").stat().st_mtime_ns
    extract_protos.main(arguments)
    assert (tmp_path / "set.pb").stat().st_mtime_ns == stamp


def test_what_is_not_a_protocol_module_is_refused(tmp_path):
    with pytest.raises(extract_protos.ExtractError):
        extract_protos.serialized_file("x = 1", "x_pb2.py")
    assert extract_protos.main([str(tmp_path), str(tmp_path / "a"), str(tmp_path / "b")]) == 1


def test_varints_and_names():
    assert [extract_protos.varint(n) for n in (0, 127, 128, 300)] == [b"\0", b"\x7f", b"\x80\x01", b"\xac\x02"]
    descriptor = descriptor_pb2.FileDescriptorProto(name="a/" + "b" * 200 + ".proto", package="p")
    assert extract_protos.proto_name(descriptor.SerializeToString()) == descriptor.name
