"""Promise: a binding between Arrow's libraries and a system library is reported; what we link Arrow for is not."""
from tools.tool_modules import load

check_bindings = load("check_bindings")


def found(source, target, symbol):
    log = f"    123:\tbinding file {source} [0] to {target} [0]: normal symbol `{symbol}' [X]\n"
    return len(list(check_bindings.crossings(log, "/b/bin/thalweg")))


def test_crossings_in_both_directions_are_found():
    assert found("/usr/lib/libssl.so.3", "/b/arrow/libparquet.so.2600", "SSL_new") == 1
    assert found("/b/arrow/libparquet.so.2600", "/usr/lib/libcrypto.so.3", "EVP_sha256") == 1
    assert found("/b/bin/thalweg", "/b/arrow/libparquet.so.2600", "_ZN8simdjson3dom6parserE") == 1


def test_our_use_of_arrow_and_the_standard_library_are_fine():
    assert found("/b/bin/thalweg", "/b/arrow/libarrow.so.2600", "_ZN5arrow5ArrayE") == 0
    assert found("/b/arrow/libarrow.so.2600", "/b/bin/thalweg", "_ZTIN5arrow6BufferE") == 0
    assert found("/b/arrow/libparquet.so.2600", "/b/bin/thalweg", "SSL_new") == 1
    assert found("/b/arrow/libparquet.so.2600", "/b/arrow/libarrow.so.2600", "utf8proc_map") == 0
    assert found("/b/arrow/libarrow.so.2600", "/lib/libc.so.6", "malloc") == 0
    assert found("/usr/lib/libgrpc.so.29", "/b/arrow/libarrow.so.2600", "_ZNSt6vectorIiE4pushEv") == 0
