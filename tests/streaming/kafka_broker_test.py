# ctest: TIMEOUT 600 LABELS broker
"""Promise: the Kafka connector does on a real broker what Spark does there (kafka/kafka_broker_cases.cc), also when secured."""
import os
import pathlib
import subprocess

import pytest
from harness.certificates import STORE_PASSWORD
from harness.waiting import patience

PROGRAM = pathlib.Path(os.environ["TW_BUILD_DIR"]) / "bin" / "kafka_broker_cases"


@pytest.fixture(scope="module")
def environment(secure_broker):
    """Addresses and stores, as the program reads them; the trust store is one that Java's keytool made."""
    files = secure_broker.certificates
    trust = files.folder / "trust.p12"
    subprocess.run(["keytool", "-importcert", "-noprompt", "-alias", "ca", "-file", files.ca, "-keystore", trust,
                    "-storetype", "PKCS12", "-storepass", STORE_PASSWORD], check=True, capture_output=True)
    return {**os.environ,
            "TW_TEST_BOOTSTRAP": secure_broker.bootstrap,
            "TW_TEST_SSL": secure_broker.ssl_bootstrap,
            "TW_TEST_SASL_SSL": secure_broker.sasl_ssl_bootstrap,
            "TW_TEST_SASL_PLAINTEXT": secure_broker.sasl_plaintext_bootstrap,
            "TW_TEST_CA": str(files.ca),
            "TW_TEST_STRANGER_CA": str(files.stranger_ca),
            "TW_TEST_CLIENT_BUNDLE": str(files.client_bundle),
            "TW_TEST_CLIENT_P12": str(files.client_p12),
            "TW_TEST_TRUST_P12": str(trust),
            "TW_TEST_STORE_PASSWORD": STORE_PASSWORD}


def cases():
    """Every case of the program, so that each is a test of its own."""
    listed = subprocess.run([PROGRAM, "--gtest_list_tests"], check=True, capture_output=True, text=True).stdout
    suite, found = "", []
    for line in listed.splitlines():
        if not line.startswith(" ") and line.endswith("."):
            suite = line
        elif line.startswith("  "):
            found.append(suite + line.split()[0])
    return found


def test_the_program_has_cases():
    assert len(cases()) >= 15


@pytest.mark.parametrize("case", cases())
def test_case(environment, case):
    ran = subprocess.run([PROGRAM, f"--gtest_filter={case}"], env=environment, capture_output=True, text=True, timeout=patience(120))
    assert ran.returncode == 0, ran.stdout[-6000:] + ran.stderr[-6000:]
