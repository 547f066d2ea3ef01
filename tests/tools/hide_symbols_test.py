"""Promise: foreign symbols are hidden from other libraries while the library's own calls still reach them."""
import ctypes
import subprocess

import pytest
from tools.tool_modules import load

hide_symbols = load("hide_symbols")

SOURCE = """
namespace arrow { int Answer(); }
extern "C" int foreign_value() { return 42; }
extern "C" int shared_value() { return 7; }
int arrow::Answer() { return foreign_value(); }
extern "C" int arrow_c_entry() { return arrow::Answer(); }
"""


@pytest.fixture
def libraries(tmp_path):
    (tmp_path / "one.cc").write_text(SOURCE)
    (tmp_path / "two.cc").write_text('extern "C" int shared_value();\nextern "C" int arrow_two() { return shared_value(); }\n')
    for name in ("one", "two"):
        subprocess.run(["c++", "-shared", "-fPIC", "-o", tmp_path / f"lib{name}.so", tmp_path / f"{name}.cc"], check=True)
    return [tmp_path / "libone.so", tmp_path / "libtwo.so"]


def copies(libraries, tmp_path):
    out = tmp_path / "out"
    assert hide_symbols.main([str(out), *map(str, libraries)]) == 0
    return out


def test_foreign_symbols_are_hidden_and_own_and_shared_ones_stay(libraries, tmp_path):
    out = copies(libraries, tmp_path)
    library = ctypes.CDLL(str(out / "libone.so"))
    assert not hasattr(library, "foreign_value")
    assert library.shared_value() == 7  # libtwo needs it
    assert library.arrow_c_entry() == 42  # still reaches the hidden one


def test_the_source_is_untouched_and_a_second_run_rewrites_nothing(libraries, tmp_path):
    before = libraries[0].read_bytes()
    out = copies(libraries, tmp_path)
    assert libraries[0].read_bytes() == before
    stamp = (out / "libone.so").stat().st_mtime_ns
    copies(libraries, tmp_path)
    assert (out / "libone.so").stat().st_mtime_ns == stamp


def test_a_file_that_is_no_library_is_refused():
    with pytest.raises(hide_symbols.BadLibrary):
        list(hide_symbols.dynamic_symbols(bytearray(b"#!/bin/sh\n" * 100)))


def test_standard_library_and_own_names_stay():
    assert hide_symbols.stays_visible(b"_ZNSt6vectorIiE", False)
    assert hide_symbols.stays_visible(b"_ZN5arrow5ArrayE", False)
    assert hide_symbols.stays_visible(b"_ZTIN7parquet6ReaderE", False)
    assert not hide_symbols.stays_visible(b"SSL_new", False)
    assert not hide_symbols.stays_visible(b"_ZN4absl3FooE", False)
    assert hide_symbols.stays_visible(b"SSL_new", True)
