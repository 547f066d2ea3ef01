#!/usr/bin/env python3
"""Writes src/base/errors.json as a C++ table: embed_errors.py ERRORS_JSON OUTPUT_CC."""

import json
import sys


def literal(text: str) -> str:
    """A C++ string literal holding the UTF-8 bytes of text; octal escapes cannot swallow what follows."""
    out = []
    for byte in text.encode("utf-8"):
        char = chr(byte)
        if char in '"\\':
            out.append("\\" + char)
        elif char == "?" or byte < 0x20 or byte > 0x7E:
            out.append(f"\\{byte:03o}")
        else:
            out.append(char)
    return '"' + "".join(out) + '"'


def reject_duplicates(pairs):
    seen = {}
    for key, value in pairs:
        if key in seen:
            raise SystemExit(f"errors.json: {key} stands twice")
        seen[key] = value
    return seen


def main() -> None:
    source, target = sys.argv[1:3]
    with open(source, encoding="utf-8") as file:
        table = json.load(file, object_pairs_hook=reject_duplicates)
    lines = [
        "// Made from src/base/errors.json by tools/embed_errors.py.",
        '#include "base/error_table.h"',
        "namespace thalweg {",
        "namespace {",
        "constexpr ErrorCondition kConditions[] = {",
    ]
    for name in sorted(table):
        entry = table[name]
        unknown = set(entry) - {"message", "sqlState"}
        if unknown:
            raise SystemExit(f"errors.json: {name} has unknown fields {sorted(unknown)}")
        lines.append(
            f"    {{{literal(name)}, {literal(entry['message'])}, {literal(entry.get('sqlState', ''))}}},"
        )
    lines += [
        "};",
        "}  // namespace",
        "std::span<const ErrorCondition> ErrorConditions() { return kConditions; }",
        "}  // namespace thalweg",
        "",
    ]
    with open(target, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


if __name__ == "__main__":
    main()
