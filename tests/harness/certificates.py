"""Certificates for one test: an authority, a broker and a client, in the forms that Java and librdkafka read."""
import dataclasses
import pathlib
import subprocess

STORE_PASSWORD = "store-secret"


@dataclasses.dataclass(frozen=True)
class Certificates:
    """Paths, all below one folder. *_bundle: key and chain in one PEM, as Kafka's PEM key store wants it (PKCS#8)."""
    folder: pathlib.Path
    ca: pathlib.Path
    broker_bundle: pathlib.Path
    client_key: pathlib.Path
    client_certificate: pathlib.Path
    client_bundle: pathlib.Path
    client_p12: pathlib.Path
    stranger_ca: pathlib.Path  # an authority that signed nothing here


def _openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


def _authority(folder, name):
    key, certificate = folder / f"{name}.key", folder / f"{name}.pem"
    _openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", certificate,
             "-subj", f"/CN=thalweg test {name}")
    return key, certificate


def _signed(folder, name, ca_key, ca, subject):
    key, request, certificate = folder / f"{name}.key", folder / f"{name}.csr", folder / f"{name}.pem"
    extensions = folder / f"{name}.ext"
    extensions.write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage=serverAuth,clientAuth\n")
    _openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", request, "-subj", subject)
    _openssl("x509", "-req", "-in", request, "-CA", ca, "-CAkey", ca_key, "-CAcreateserial", "-days", "2",
             "-extfile", extensions, "-out", certificate)
    bundle = folder / f"{name}-bundle.pem"
    bundle.write_text(key.read_text() + certificate.read_text() + ca.read_text())
    return key, certificate, bundle


def make_certificates(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    ca_key, ca = _authority(folder, "ca")
    _, stranger = _authority(folder, "stranger")
    _, _, broker_bundle = _signed(folder, "broker", ca_key, ca, "/CN=localhost")
    key, certificate, bundle = _signed(folder, "client", ca_key, ca, "/CN=thalweg-client")
    p12 = folder / "client.p12"
    _openssl("pkcs12", "-export", "-inkey", key, "-in", certificate, "-certfile", ca, "-name", "client",
             "-passout", f"pass:{STORE_PASSWORD}", "-out", p12)
    return Certificates(folder, ca, broker_bundle, key, certificate, bundle, p12, stranger)
