"""Flow tests on PostgreSQL: a server for the test program, a database for each test.

The server is a throw-away cluster of script/postgres, without fsync, started at first use. It is gone when the program
is, also when that is killed: another process waits for the program's end and stops it. A class says its scene as SQL
(or how to make it); that is run once into a template, of which every test gets a copy.

TIDEGATE_POSTGRES_MAJOR chooses another server than Debian's (script/deps postgres-majors), and its clients."""

import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import psycopg2
import psycopg2.extensions
from harness import Flow, wait_until

SCRIPT = Path(__file__).resolve().parents[2] / "script" / "postgres"
SETTINGS = ["fsync=off", "full_page_writes=off", "shared_buffers=64MB", "max_connections=60", "wal_level=logical",
            "max_prepared_transactions=5", "log_line_prefix=%m [%p] %a: "]
# Dates, times and numerics as texts, as SQLite would give them; a numeric without fraction digits is a number.
TEXTS = psycopg2.extensions.new_type((1082, 1083, 1114, 1184, 114, 3802), "AS_TEXT", lambda value, cursor: value)

for name in [name for name in os.environ if name.startswith("PG")]:
    del os.environ[name]  # what the caller has set for its own database


class Cluster:
    """One server. `databases` counts, so that names are unique in it."""

    def __init__(self, *settings):
        self.make_folder()
        args = [str(SCRIPT), "start", "--data", self.folder]
        for setting in [*SETTINGS, *settings]:
            args += ["-c", setting]
        subprocess.run(args, check=True, stdout=subprocess.DEVNULL)
        if os.environ.get("TIDEGATE_POSTGRES_MAJOR"):
            # An older pg_dump does not speak to a newer server.
            os.environ["PATH"] = self.programs() + ":" + os.environ["PATH"]

    def make_folder(self):
        self.databases, self.templates = 0, {}
        self.folder = tempfile.mkdtemp(prefix="tidegate-pg.", dir="/tmp")
        # Ends by itself when the last holder of the pipe's other end, this program, is gone; not by its signals.
        self.reaper = subprocess.Popen(["sh", "-c", 'cat >/dev/null; exec "$0" stop --data "$1"', str(SCRIPT), self.folder],
                                       stdin=subprocess.PIPE, start_new_session=True)

    def programs(self):
        """Where this server's own programs are."""
        return Path(self.folder, "tidegate-cluster").read_text(encoding="utf-8").strip()

    def stop(self):
        self.reaper.stdin.close()
        self.reaper.wait()

    def url(self, database="postgres"):
        return f"postgresql:///{database}?host={self.folder}&user=postgres"

    def connect(self, database="postgres"):
        connection = psycopg2.connect(self.url(database), application_name="test")
        connection.autocommit = True
        psycopg2.extensions.register_type(TEXTS, connection)
        return connection

    def run(self, statement):
        connection = self.connect()
        connection.cursor().execute(statement)
        connection.close()

    def template(self, scene):
        """The template of a scene, made at its first use. A scene is SQL or a function that fills the database of a URL."""
        key = scene if isinstance(scene, str) else f"{scene.__module__}.{scene.__qualname__}"
        if not key:
            return "template1"
        if key not in self.templates:
            name = f"scene_{hashlib.sha256(key.encode()).hexdigest()[:8]}"
            self.run(f"CREATE DATABASE {name}")
            if isinstance(scene, str):
                connection = self.connect(name)
                connection.cursor().execute(scene)
                connection.close()
            else:
                scene(self.url(name))
            self.templates[key] = name
        return self.templates[key]

    def database(self, scene=""):
        template = self.template(scene)
        self.databases += 1
        name = f"test_{self.databases}"
        self.run(f"CREATE DATABASE {name} TEMPLATE {template}")
        return name

    def drop(self, name):
        self.run(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def crash(self):
        subprocess.run([str(SCRIPT), "crash", "--data", self.folder], check=True)

    def restart(self):
        subprocess.run([str(SCRIPT), "start", "--data", self.folder], check=True, stdout=subprocess.DEVNULL)


class Standby(Cluster):
    """A streaming replica of another cluster, made by pg_basebackup; it is asked by its own socket."""

    def __init__(self, primary):  # pylint: disable=super-init-not-called
        self.make_folder()
        shutil.copy(Path(primary.folder, "tidegate-cluster"), self.folder)
        primary_conninfo = f"host={primary.folder} user=postgres application_name=follower"
        data = Path(self.folder, "data")
        subprocess.run(["pg_basebackup", "--pgdata", data, "--checkpoint=fast", "--no-sync", "--dbname", primary_conninfo], check=True)
        # By hand, since a newer pg_basebackup would write options that an older server does not know.
        (data / "standby.signal").touch()
        with open(data / "postgresql.auto.conf", "a", encoding="utf-8") as settings:
            settings.write(f"primary_conninfo = '{primary_conninfo}'\n")
        owner = os.stat(Path(primary.folder, "data"))
        subprocess.run(["chown", "-R", f"{owner.st_uid}:{owner.st_gid}", self.folder], check=True)
        data.chmod(0o700)
        self.restart()

    def promote(self):
        self.run("SELECT pg_promote()")


@functools.cache
def server():
    """This program's own."""
    return Cluster()


class PostgresFlow(Flow):
    """A Flow on a database of its own; `scene` is what stands in it when a test begins."""

    engine = "postgres"
    scene = ""

    def find_cluster(self):
        return server()

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="tidegate-"))
        self.cluster = self.find_cluster()
        self.name = self.cluster.database(self.scene)
        self.database = self.named = self.cluster.url(self.name)

    def tearDown(self):
        self.cluster.drop(self.name)
        shutil.rmtree(self.folder, ignore_errors=True)

    def connect(self, autocommit=True):
        """A connection of another program; not autocommit: a transaction begins with the first statement."""
        connection = self.cluster.connect(self.name)
        connection.autocommit = autocommit
        return connection

    def sql(self, script):
        connection = self.connect()
        try:
            connection.cursor().execute(script)
        finally:
            connection.close()

    def rows(self, query):
        connection = self.connect()
        try:
            cursor = connection.cursor()
            cursor.execute(query)
            return cursor.fetchall()
        finally:
            connection.close()

    def ledger(self, table):
        return f"tidegate.{table}"

    def state(self, spec="backfill.yaml"):
        return self.value("SELECT state FROM tidegate.backfill ORDER BY number DESC LIMIT 1")

    def objects(self):
        return [name for (name,) in self.rows(
            "SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE c.relkind = 'r' AND c.relname ~ '^tidegate_[0-9a-f]+_(changes|shadow|snapshot)$' ORDER BY 1")]

    def catalogue(self):
        """Everything that is not Tidegate's, as pg_dump spells it."""
        dump = subprocess.run(["pg_dump", "--schema-only", "--exclude-schema=tidegate", "-d", self.database],
                              check=True, stdout=subprocess.PIPE, text=True).stdout
        return [line for line in dump.splitlines() if line and not line.startswith(("--", "\\restrict", "\\unrestrict"))]

    def wait_for_lock(self, table):
        """Until some session waits for a lock on the table."""
        wait_until(lambda: self.value(f"SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = '{table}'::regclass"),
                   what=f"a session that waits for {table}")


class OwnServerFlow(PostgresFlow):
    """A PostgresFlow on a server of the class's own, which its tests may stop; `settings` are its."""

    settings = ()

    @classmethod
    def make_cluster(cls):
        return Cluster(*cls.settings)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.own = cls.make_cluster()
        cls.addClassCleanup(cls.own.stop)

    def find_cluster(self):
        return self.own
