#!/usr/bin/env python3
"""Copies Arrow's shared libraries and hides the symbols of other projects that they export.

hide_symbols.py OUT_DIR LIBRARY...

A wheel's libarrow, libarrow_compute and libparquet contain OpenSSL, simdjson, RE2, Abseil, protobuf and more, and export
them without a symbol version: the loader gives such a symbol to the first library that asks for one of that name. In the
copies every defined dynamic symbol gets the visibility "hidden" (st_other of its .dynsym entry) unless

- it is Arrow's or Parquet's own,
- it belongs to the C++ standard library (templates and type information must stay one per process), or
- another library of the set needs it.

Nothing moves in the file, so no other table changes. glibc binds a library's own references to its hidden symbols and shows
them to nobody else. Copies that are already right are left untouched.
"""
import pathlib
import struct
import sys

SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
SHT_DYNSYM = 11
SHN_UNDEF = 0
STV_MASK = 3
STV_HIDDEN = 2

STANDARD_PREFIXES = (
    b"_ZNSt", b"_ZNKSt", b"_ZSt", b"_ZNS", b"_ZNKS", b"_ZZNSt", b"_ZZNKSt", b"_ZGVNSt", b"_ZGVZNSt",
    b"_ZTVSt", b"_ZTISt", b"_ZTSSt", b"_ZTTSt", b"_ZTVNSt", b"_ZTINSt", b"_ZTSNSt", b"_ZTTNSt",
    b"_ZN9__gnu_cxx", b"_ZNK9__gnu_cxx",
)
OWN_NAMES = (b"5arrow", b"7parquet")
KEPT_NAMES = (b"_init", b"_fini")


class BadLibrary(Exception):
    """The file is not a 64-bit little-endian ELF library with a .dynsym."""


def dynamic_symbols(image):
    """Yields (position of the entry in the file, name, section index) of every dynamic symbol but the null one."""
    if image[:6] != b"\x7fELF\x02\x01":
        raise BadLibrary("not a 64-bit little-endian ELF file")
    table_at, = struct.unpack_from("<Q", image, 0x28)
    count, = struct.unpack_from("<H", image, 0x3C)
    sections = [SECTION.unpack_from(image, table_at + SECTION.size * i) for i in range(count)]
    symbols = next((s for s in sections if s[1] == SHT_DYNSYM), None)
    if symbols is None:
        raise BadLibrary("no .dynsym")
    names_at = sections[symbols[6]][4]
    for index in range(1, symbols[5] // SYMBOL.size):
        at = symbols[4] + SYMBOL.size * index
        name_at, _info, _other, section, _value, _size = SYMBOL.unpack_from(image, at)
        start = names_at + name_at
        yield at, bytes(image[start:image.index(b"\0", start)]), section


def stays_visible(name, needed_elsewhere):
    """Whether a defined symbol keeps its visibility; see the rules at the top of the file."""
    if any(own in name for own in OWN_NAMES) or name.startswith((b"arrow", b"Arrow")):
        return True
    return name in KEPT_NAMES or name.startswith(STANDARD_PREFIXES) or needed_elsewhere


def hide(images):
    """Hides foreign symbols in place. images: name -> bytearray. Returns name -> number of symbols hidden."""
    symbols = {name: list(dynamic_symbols(image)) for name, image in images.items()}
    needed_by = {}
    for library, entries in symbols.items():
        for _at, name, section in entries:
            if section == SHN_UNDEF:
                needed_by.setdefault(name, set()).add(library)
    hidden = {}
    for library, entries in symbols.items():
        hidden[library] = 0
        for at, name, section in entries:
            if section == SHN_UNDEF or stays_visible(name, bool(needed_by.get(name, set()) - {library})):
                continue
            images[library][at + 5] = (images[library][at + 5] & ~STV_MASK) | STV_HIDDEN
            hidden[library] += 1
    return hidden


def is_current(target, source):
    """A copy is current when it is as long as its source, and younger than it and than this program."""
    if not target.exists() or target.stat().st_size != source.stat().st_size:
        return False
    newest = max(source.stat().st_mtime, pathlib.Path(__file__).stat().st_mtime)
    return target.stat().st_mtime >= newest


def main(arguments):
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    out = pathlib.Path(arguments[0])
    sources = [pathlib.Path(path) for path in arguments[1:]]
    if all(is_current(out / path.name, path) for path in sources):
        return 0
    images = {path.name: bytearray(path.read_bytes()) for path in sources}
    hidden = hide(images)
    out.mkdir(parents=True, exist_ok=True)
    for name, image in images.items():
        partial = out / (name + ".new")
        partial.write_bytes(image)
        partial.chmod(0o755)
        partial.replace(out / name)
        print(f"{name}: {hidden[name]} foreign symbols hidden")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
