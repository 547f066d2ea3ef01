"""Loads a program of tools/ as a module."""
import importlib.util
import os
import pathlib

SOURCE_DIR = pathlib.Path(os.environ.get("TW_SOURCE_DIR", pathlib.Path(__file__).parents[2]))


def load(name):
    spec = importlib.util.spec_from_file_location(name, SOURCE_DIR / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
