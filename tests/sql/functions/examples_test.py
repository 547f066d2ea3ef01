"""The examples of docs/reference/functions.md, which is made from the registry, give the answers that stand beside them."""
import os
import pathlib
import re

import pytest

PAGE = pathlib.Path(os.environ["TW_SOURCE_DIR"]) / "docs" / "reference" / "functions.md"


def examples():
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip(" ") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) != 5 or not cells[3].startswith("`"):
            continue
        name, sql, answer = (cells[i].replace("\\|", "|") for i in (0, 3, 4))
        yield pytest.param(sql[1:-1], answer[1:-1], id=name.strip("`"))


@pytest.fixture(scope="module")
def session(shared_server):
    spark = shared_server.session()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    yield spark
    shared_server.close_sessions()


def test_the_page_has_examples():
    assert len(list(examples())) > 200


@pytest.mark.parametrize("sql, answer", examples())
def test_example(session, sql, answer):
    shown = session.sql(sql)._show_string(20, False, False).splitlines()  # head, names, rule, one row, rule
    assert len(shown) >= 5
    assert shown[3][1:-1].rstrip(" ") == answer.rstrip(" ")
