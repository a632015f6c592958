"""A PostgreSQL server in a temporary folder and on a free port, for tests.

`python -m tools.postgres` looks for PostgreSQL and installs Debian's package where apt may be used.
"""

import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

USER = "fsdash"


def find_programs():
    """The folder with initdb and pg_ctl; None if PostgreSQL is not installed."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    found = shutil.which("initdb")
    for folder in [*([Path(found).resolve().parent] if found else []), *folders]:
        if (folder / "initdb").exists() and (folder / "pg_ctl").exists():
            return folder
    return None


class Postgres:
    """A server that the tests start, stop and kill. Use it as a context manager."""

    def __init__(self):
        self.programs = find_programs()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.folder = Path(tempfile.mkdtemp(prefix="fsdash-postgres-"))
        self.data = self.folder / "data"

    def __enter__(self):
        self.folder.chmod(0o755)
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            os.chown(self.folder, *self._account())
        self._run("initdb", "-D", self.data, "-U", USER, "-A", "trust", "-E", "UTF8", "-N")
        self.start()
        return self

    def __exit__(self, *_):
        self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self):
        options = f"-p {self.port} -h 127.0.0.1 -k {self.folder} -c fsync=off"
        self._run(
            "pg_ctl", "-D", self.data, "-w", "-l", self.folder / "log", "-o", options, "start"
        )

    def stop(self, mode="fast"):
        """Stop the server: "fast" ends all sessions, "immediate" is a crash."""
        self._run("pg_ctl", "-D", self.data, "-w", "-m", mode, "stop", check=False)

    def new_database(self, name):
        """Create a database and return its URL."""
        self._run("createdb", "-h", "127.0.0.1", "-p", str(self.port), "-U", USER, name)
        return f"postgresql+psycopg://{USER}@127.0.0.1:{self.port}/{name}"

    def _run(self, program, *arguments, check=True):
        user, group = self._account() if os.geteuid() == 0 else (None, None)
        subprocess.run(
            [self.programs / program, *arguments],
            check=check,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            user=user,
            group=group,
            extra_groups=[] if user is not None else None,
        )

    @staticmethod
    def _account():
        """An account without rights: the one of PostgreSQL, or else nobody."""
        for name in ("postgres", "nobody"):
            try:
                found = pwd.getpwnam(name)
            except KeyError:
                continue
            return found.pw_uid, found.pw_gid
        raise RuntimeError("PostgreSQL needs an account other than root")


def main():
    """Make sure that PostgreSQL is installed; exit with 1 and the remedy if it is not."""
    if find_programs() is None and os.geteuid() == 0 and shutil.which("apt-get"):
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in (["apt-get", "update"], ["apt-get", "install", "-y", "postgresql"]):
            subprocess.run(command, env=environment, check=False)
    if find_programs() is None:
        sys.exit("PostgreSQL was not found: install it (Debian: sudo apt-get install postgresql)")


if __name__ == "__main__":
    main()
