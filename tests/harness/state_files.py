"""State files, decoded independently of the program: `<version>.delta` and `.snapshot` of the HDFS format, `.changelog` of RocksDB's;
LZ4 blocks inside, and the same records but for a byte 0 in front of every row."""
import pathlib
import struct

MAGIC = b"LZ4Block"


def _expand(block, size):
    """One raw LZ4 block."""
    out, at = bytearray(), 0

    def length(nibble):
        nonlocal at
        total, more = nibble, nibble == 15
        while more:
            byte = block[at]
            at += 1
            total, more = total + byte, byte == 255
        return total

    while at < len(block):
        token = block[at]
        at += 1
        literals = length(token >> 4)
        out += block[at:at + literals]
        at += literals
        if at >= len(block):
            break
        distance = int.from_bytes(block[at:at + 2], "little")
        at += 2
        for _ in range(length(token & 15) + 4):
            out.append(out[-distance])
    assert len(out) == size
    return bytes(out)


def decompressed(data):
    out, at = b"", 0
    while at < len(data):
        assert data[at:at + 8] == MAGIC
        method, packed, size, _ = struct.unpack_from("<BIII", data, at + 8)
        at += 21
        out += data[at:at + packed] if method >> 4 == 1 else _expand(data[at:at + packed], size)
        at += packed
    return out


def records(path):
    """(key, value or None for a removal), bytes, in the order of the file."""
    data, at, found = decompressed(pathlib.Path(path).read_bytes()), 0, []
    while True:
        (size,) = struct.unpack_from(">i", data, at)
        if size == -1:
            assert at + 4 == len(data)
            return found
        key = data[at + 4:at + 4 + size]
        at += 4 + size
        (size,) = struct.unpack_from(">i", data, at)
        found.append((key, None if size < 0 else data[at + 4:at + 4 + size]))
        at += 4 + max(size, 0)


def changes(checkpoint):
    """file below state/ -> what it changes (key -> value), for every delta, snapshot and changelog of a checkpoint."""
    root = pathlib.Path(checkpoint) / "state"
    return {str(path.relative_to(root)): dict(records(path)) for path in sorted(root.rglob("*")) if path.suffix in (".delta", ".snapshot", ".changelog")}


def contents(checkpoint, version):
    """(operator/partition, key) -> value of one version, by all the deltas up to it. Snapshots are not looked at."""
    state = {}
    for folder in sorted((pathlib.Path(checkpoint) / "state").glob("*/*")):
        if not folder.name.isdigit():
            continue
        store = f"{folder.parent.name}/{folder.name}"
        for one in range(1, version + 1):
            path = folder / f"{one}.delta"
            if not path.exists():
                continue
            for key, value in records(path):
                if value is None:
                    state.pop((store, key), None)
                else:
                    state[store, key] = value
    return state
