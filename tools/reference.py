#!/usr/bin/env python3
"""Writes the pages of docs/reference that are made from the sources: reference.py [--check] [TREE].

conditions.md  from src/base/errors.json
settings.md    from the Setting constants (src/**/*.h, *.cc) and from the keys that the session looks up by name

With --check nothing is written: the exit status is 1 when a page is not what it would be, or when a default differs from the one
that clients are told (src/front/session/spark_settings_table.cc).
"""

import argparse
import json
import pathlib
import re
import sys

SETTING = re.compile(r"\bSetting<(?P<type>bool|int64_t|double|std::string)>\s+(?P<name>\w+)\s*\{(?P<body>\s*\.key\b.*?)\};", re.DOTALL)
FIELD = re.compile(r"\.(\w+)\s*=\s*")
TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
TOLD = re.compile(r'\{"(?P<key>[^"]+)", (?P<default>nullptr|"[^"]*"), (?P<modifiable>true|false)\}')
LOOKED_UP = re.compile(r'\b(?:flag|LookupLocked|GetBool|GetInt|GetConfOption|Lookup)\(\s*"(spark\.[^"]+)"')
UNITS = {"kNone": "", "kBytes": "b", "kMillis": "ms", "kSeconds": "s"}
SIZES = {"": 1, "b": 1, "k": 1 << 10, "kb": 1 << 10, "m": 1 << 20, "mb": 1 << 20, "g": 1 << 30, "gb": 1 << 30}
TIMES = {"": 1, "ms": 1, "s": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000}


def fields_of(body):
    """The designated initialisers of a Setting as texts of C++."""
    marks = list(FIELD.finditer(body))
    ends = [mark.start() for mark in marks[1:]] + [len(body)]
    return {mark.group(1): body[mark.end() : end].strip().rstrip(",").strip() for mark, end in zip(marks, ends)}


def text_of(code):
    """The value of adjacent string literals."""
    return "".join(json.loads(f'"{part}"') for part in TEXT.findall(code))


def value_of(kind, code, constants):
    """The default as clients would be told it."""
    if kind == "bool":
        return code or "false"
    if kind == "std::string":
        return constants.get(code, text_of(code))
    number = re.sub(r"(?<=\d)'(?=\d)", "", code) or "0"
    if not re.fullmatch(r"[\d\s.+*<()-]+", number):
        raise SystemExit(f"reference.py: the default {code!r} is no number")
    return str(eval(number))  # pylint: disable=eval-used; digits and operators only


def read_settings(tree):
    """Every Setting with a key of Spark's or ours: {key: (default, unit, doc)}."""
    settings = {}
    sources = sorted(p for p in (tree / "src").rglob("*") if p.suffix in (".h", ".cc") and not p.stem.endswith("_test"))
    for path in sources:
        text = path.read_text(encoding="utf-8")
        if "Setting<" not in text or path.name == "settings.h" and path.parent.name == "base":
            continue
        constants = {m.group(1): text_of(m.group(2)) for m in re.finditer(r'constexpr char (\w+)\[\] =\s*("[^;]*");', text)}
        for match in SETTING.finditer(text):
            fields = fields_of(match.group("body"))
            key = text_of(fields["key"])
            if not key.startswith(("spark.", "thalweg.")):
                continue
            if key in settings:
                raise SystemExit(f"reference.py: {key} is declared twice, the second time in {path.relative_to(tree)}")
            unit = UNITS[fields.get("unit", "SettingUnit::kNone").rsplit("::", 1)[-1]]
            settings[key] = (value_of(match.group("type"), fields.get("default_value", ""), constants), unit, text_of(fields.get("doc", "")))
    return settings


def told_defaults(tree):
    """What the session answers for settings that nobody set."""
    text = (tree / "src/front/session/spark_settings_table.cc").read_text(encoding="utf-8")
    return {m.group("key"): None if m.group("default") == "nullptr" else m.group("default")[1:-1] for m in TOLD.finditer(text)}


def same_default(value, unit, told):
    scale = {"b": SIZES, "ms": TIMES}.get(unit)
    parts = re.fullmatch(r"(-?\d+)([a-z]*)", told.lower())
    if scale is None or parts is None or parts.group(2) not in scale:
        return value.lower() == told.lower()
    return int(value) == int(parts.group(1)) * scale[parts.group(2)]


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def settings_page(tree):
    settings = read_settings(tree)
    told = told_defaults(tree)
    for key, (value, unit, _doc) in settings.items():
        if told.get(key) is not None and not same_default(value, unit, told[key]):
            raise SystemExit(f"reference.py: {key} is {value}{unit} by its Setting, {told[key]} by spark_settings_table.cc")
    looked_up = set()
    for path in (tree / "src/front").rglob("*.cc"):
        looked_up.update(LOOKED_UP.findall(path.read_text(encoding="utf-8")))
    lines = [
        "# Settings",
        "",
        "Made by `tools/reference.py` from the sources. `--conf` and `spark-defaults.conf` set them; `SET key = value` and `spark.conf.set` those that are not fixed at the start (`spark.connect.*`, `thalweg.memory.limit`).",
        "",
        "| setting | default | what |",
        "|---|---|---|",
    ]
    lines += [f"| `{key}` | `{value}{unit}` | {cell(doc)} |" for key, (value, unit, doc) in sorted(settings.items())]
    lines += ["", "Looked up by name, with Spark's meaning:", "", "| setting | default |", "|---|---|"]
    lines += [f"| `{key}` | {'`' + told[key] + '`' if told.get(key) else ''} |" for key in sorted(looked_up - set(settings))]
    lines += [
        "",
        f"Clients may read {len(told)} settings of Spark's without having set them, with Spark's defaults; those that are not above change nothing.",
    ]
    return "\n".join(lines) + "\n"


def conditions_page(tree):
    errors = json.loads((tree / "src/base/errors.json").read_text(encoding="utf-8"))
    lines = [
        "# Error conditions",
        "",
        "Made by `tools/reference.py` from `src/base/errors.json`. Names, SQLSTATEs and wording are Spark's and Delta's where they have one.",
        "",
        "| condition | SQLSTATE | message |",
        "|---|---|---|",
    ]
    lines += [f"| `{name}` | {entry.get('sqlState', '')} | {cell(entry['message'])} |" for name, entry in sorted(errors.items())]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("tree", nargs="?", default=".", type=pathlib.Path)
    arguments = parser.parse_args()
    check, tree = arguments.check, arguments.tree
    stale = []
    for name, page in (("conditions", conditions_page), ("settings", settings_page)):
        path = tree / "docs/reference" / f"{name}.md"
        text = page(tree)
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        if check:
            stale.append(str(path))
        else:
            path.write_text(text, encoding="utf-8")
    if stale:
        raise SystemExit(f"not current: {', '.join(stale)}; run tools/reference.py")


if __name__ == "__main__":
    main()
