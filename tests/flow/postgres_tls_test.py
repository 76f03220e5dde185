"""TLS as libpq has it, against a server that demands it: certificates that are right and wrong, a client's certificate, a
password, a plain connection. What fails says what to do, and nothing secret is shown."""

import contextlib
import os
import random
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import harness
from harness import DATABASE, OK, USAGE, wait_until
from postgres_harness import Cluster, OwnServerFlow

SECRET = "open-sesame-4711"
SCENE = """
CREATE TABLE source(day date NOT NULL, id int PRIMARY KEY, v int NOT NULL);
INSERT INTO source SELECT date '2024-01-01' + i / 20, i, i + 1 FROM generate_series(0, 399) i;
CREATE TABLE fact(day date NOT NULL, id int PRIMARY KEY, v int);
INSERT INTO fact SELECT day, id, 0 FROM source;
"""
SPEC = """
target: fact
range: 2024-01-01..2024-01-20
wrong: all nought
correct: as in the source
changes: v
recompute: SELECT day, id, v FROM source WHERE day >= :from AND day < :to
"""
# Who comes by the network comes by TLS: one trusted, one by certificate, one by password.
HBA = """
local all all trust
hostssl all postgres 127.0.0.1/32 trust
hostssl all certified 127.0.0.1/32 cert
hostssl all sworn 127.0.0.1/32 scram-sha-256
"""


def free_port():
    """One that no other program is given meanwhile: below those that the system hands out."""
    while True:
        port = random.randrange(20000, 32768)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def openssl(*args, cwd):
    subprocess.run(["openssl", *args], check=True, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def authority(folder, name):
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", f"/CN={name}",
            "-keyout", f"{name}.key", "-out", f"{name}.crt", cwd=folder)


def certificate(folder, name, of, common_name, extension):
    Path(folder, f"{name}.ext").write_text(extension)
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={common_name}", "-keyout",
            f"{name}.key", "-out", f"{name}.csr", cwd=folder)
    openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{of}.crt", "-CAkey", f"{of}.key", "-CAcreateserial", "-days", "2",
            "-extfile", f"{name}.ext", "-out", f"{name}.crt", cwd=folder)


class TlsCluster(Cluster):
    """A server that listens on this machine's network, for TLS alone. `keys` holds its certificates and the clients'."""

    def __init__(self):
        self.keys = Path(tempfile.mkdtemp(prefix="tidegate-tls-"))
        self.keys.chmod(0o755)
        authority(self.keys, "ours")
        authority(self.keys, "theirs")
        certificate(self.keys, "server", "ours", "localhost", "subjectAltName=DNS:localhost")
        certificate(self.keys, "client", "ours", "certified", "extendedKeyUsage=clientAuth")
        certificate(self.keys, "stranger", "ours", "somebody", "extendedKeyUsage=clientAuth")
        openssl("ec", "-in", "client.key", "-aes256", "-passout", f"pass:{SECRET}", "-out", "locked.key", cwd=self.keys)
        (self.keys / "hba.conf").write_text(HBA)
        for key in self.keys.glob("*.key"):
            key.chmod(0o600)
        if os.getuid() == 0:  # script/postgres runs the server as another user then
            for file in ("server.key", "server.crt", "hba.conf"):
                shutil.chown(self.keys / file, "postgres")
        self.port = free_port()
        super().__init__("listen_addresses=127.0.0.1", f"port={self.port}", "ssl=on", f"ssl_cert_file={self.keys}/server.crt",
                         f"ssl_key_file={self.keys}/server.key", f"ssl_ca_file={self.keys}/ours.crt", f"hba_file={self.keys}/hba.conf",
                         "log_connections=on", "password_encryption=scram-sha-256")

    def url(self, database="postgres"):
        return super().url(database) + f"&port={self.port}"

    def stop(self):
        super().stop()
        shutil.rmtree(self.keys, ignore_errors=True)


class Tls(OwnServerFlow):
    scene = SCENE

    @classmethod
    def make_cluster(cls):
        return TlsCluster()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.own.run("CREATE ROLE certified LOGIN SUPERUSER")
        cls.own.run(f"CREATE ROLE sworn LOGIN SUPERUSER PASSWORD '{SECRET}'")

    def setUp(self):
        super().setUp()
        self.home = {"HOME": str(self.folder)}  # no ~/.postgresql and no ~/.pgpass
        self.named = self.network()

    def network(self, user="postgres", host="localhost", **options):
        """A URL by the network; an option that is None is left out."""
        options = {"hostaddr": "127.0.0.1", "sslmode": "verify-full", "sslrootcert": self.own.keys / "ours.crt", **options}
        said = "&".join(f"{name}={value}" for name, value in options.items() if value is not None)
        return f"postgresql://{user}@{host}:{self.own.port}/{self.name}?{said}"

    def client(self, name, key=None):
        return {"sslcert": self.own.keys / f"{name}.crt", "sslkey": self.own.keys / f"{key or name}.key"}

    def doctor(self, url, code=OK, env=None):
        return self.tidegate("doctor", "fact", "--database", url, code=code, env={**self.home, **(env or {})})

    def refused(self, url, message, hint, env=None, code=DATABASE):
        """Says what is wrong and what to do; writes nothing and shows no secret."""
        result = self.doctor(url, code=code, env=env)
        told = result.out + result.err
        self.assertRegex(told, message)
        self.assertRegex(told.split("HINT: ", 1)[1], hint, repr(result))
        self.assertNotIn(SECRET, told)

    def test_a_backfill_all_the_way(self):
        """Every connection of it, those of the workers too, is encrypted: the server's log says so."""
        spec = self.spec(SPEC, budget="budget: {duty: 100 %, workers: 2}")
        for step in (["plan"], ["run"], ["swap", "--yes"], ["rollback"], ["swap", "--yes"]):
            self.tidegate(step[0], spec, *step[1:], env=self.home)
        self.assertEqual(self.value("SELECT count(*) FROM fact JOIN source USING (day, id, v)"), 400)
        log = Path(self.own.folder, "log").read_text()
        mine = [line for line in log.splitlines() if "connection authorized" in line and f"database={self.name}" in line and "application_name=tidegate" in line]
        self.assertGreater(len(mine), 6)
        self.assertEqual([line for line in mine if "SSL enabled" not in line], [])
        self.assertRegex(self.doctor(self.named).out, r"connection: TLSv1\.[23], as postgres")

    def test_the_default_of_libpq(self):
        """`prefer`: encrypted where the server can, and not verified; `doctor` says that it is TLS."""
        self.assertRegex(self.doctor(self.network(sslmode=None, sslrootcert=None)).out, r"connection: TLSv1\.[23]")

    def test_an_authority_that_is_not_ours(self):
        self.refused(self.network(sslrootcert=self.own.keys / "theirs.crt"), "certificate verify failed", "sslrootcert")

    def test_no_authority_at_all(self):
        self.refused(self.network(sslrootcert=None), "root certificate file .* does not exist", "sslrootcert")

    def test_a_server_of_another_name(self):
        self.refused(self.network(host="db.example.org"), 'certificate for "localhost" does not match host name "db.example.org"', "by the name that the certificate gives")

    def test_a_plain_connection_is_refused(self):
        self.refused(self.network(sslmode="disable"), "no encryption", "sslmode=verify-full")

    def test_a_client_without_a_certificate(self):
        self.refused(self.network("certified"), "certificate", "sslcert")

    def test_a_client_with_its_certificate(self):
        self.assertRegex(self.doctor(self.network("certified", **self.client("client"))).out, r"connection: TLSv1\.[23], as certified")

    def test_a_client_with_anothers_certificate(self):
        self.refused(self.network("certified", **self.client("stranger")), "certificate authentication failed", "sslcert")

    def test_a_key_that_others_can_read(self):
        key = self.own.keys / "client.key"
        key.chmod(0o644)
        self.addCleanup(key.chmod, 0o600)
        self.refused(self.network("certified", **self.client("client")), "private key file .* has group or world access", "chmod 600")

    def test_a_locked_key_whose_word_stands_in_the_url(self):
        """It is a secret like a password: refused, and not repeated."""
        self.refused(self.network("certified", **self.client("client", "locked"), sslpassword=SECRET), "holds a password", "service file", code=USAGE)

    def test_a_locked_key_whose_word_stands_in_a_service_file(self):
        (self.folder / "services").write_text(f"[shop]\nuser=certified\nsslpassword={SECRET}\n")
        url = self.network("certified", **self.client("client", "locked")) + "&service=shop"
        self.assertRegex(self.doctor(url, env={"PGSERVICEFILE": str(self.folder / "services")}).out, "as certified")

    def test_a_password(self):
        """From ~/.pgpass alone; it is in no output, no list of processes and no table of the ledger."""
        passes = self.folder / ".pgpass"
        passes.write_text(f"localhost:{self.own.port}:*:sworn:{SECRET}\n")
        passes.chmod(0o600)
        env = {"PGPASSFILE": str(passes)}
        self.named = self.network("sworn")
        spec = self.spec(SPEC)
        told = ""
        for step, what in (("plan", spec), ("status", spec), ("runbook", "fact")):
            result = self.tidegate(step, what, "--database", self.named, env={**self.home, **env})
            told += result.out + result.err
        run = self.start("run", spec, env={**os.environ, **self.home, **env})
        wait_until(lambda: run.poll() is not None or b"run" in Path(f"/proc/{run.pid}/cmdline").read_bytes(), what="the command")
        listed = "" if run.poll() is not None else Path(f"/proc/{run.pid}/cmdline").read_text()
        out, err = run.communicate()
        self.assertEqual(run.returncode, OK, out + err)
        ledger = subprocess.run(["pg_dump", "--schema=tidegate", "-d", self.database], check=True, stdout=subprocess.PIPE, text=True).stdout
        self.assertIn("COPY tidegate.backfill", ledger)
        for where, text in (("output", told + out + err), ("processes", listed), ("ledger", ledger)):
            self.assertNotIn(SECRET, text, where)

    def test_a_wrong_password(self):
        self.refused(self.network("sworn"), "password authentication failed", "pgpass|PGPASSWORD", env={"PGPASSWORD": SECRET + "-no"})

    def test_no_password(self):
        self.refused(self.network("sworn"), "no password supplied", "pgpass|PGPASSWORD")


if __name__ == "__main__":
    harness.main()
