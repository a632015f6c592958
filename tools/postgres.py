"""A PostgreSQL server in a temporary folder and on a free port, for tests.

`python -m tools.postgres` looks for PostgreSQL and installs Debian's package where apt may be used.
Where that is not possible, it says that the tests on PostgreSQL are skipped, and why.
"""

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil

USER = "fsdash"
INSTALL_SECONDS = 120


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

    def __init__(self, host="127.0.0.1"):
        self.host, self.programs = host, find_programs()
        with socket.socket() as free:
            free.bind((host, 0))
            self.port = free.getsockname()[1]
        self.folder = Path(tempfile.mkdtemp(prefix="fsdash-postgres-"))
        self.data = self.folder / "data"

    def __enter__(self):
        self.folder.chmod(0o755)
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            os.chown(self.folder, *self._account())
        self._run("initdb", "-D", self.data, "-U", USER, "-A", "trust", "-E", "UTF8", "-N")
        with (self.data / "pg_hba.conf").open("a") as rules:
            rules.write(f"host all all {self.host}/24 trust\n")
        self.start()
        return self

    def __exit__(self, *_):
        self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self):
        options = f"-p {self.port} -h {self.host} -k {self.folder} -c fsync=off"
        self._run(
            "pg_ctl", "-D", self.data, "-w", "-l", self.folder / "log", "-o", options, "start"
        )

    def stop(self, mode="fast"):
        """Stop the server: "fast" ends all sessions, "immediate" is a crash."""
        self._run("pg_ctl", "-D", self.data, "-w", "-m", mode, "stop", check=False)

    def kill(self):
        """End all its processes by SIGKILL."""
        found = self.processes()
        for process in found:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(found)

    def processes(self):
        """The server's process and those of its sessions."""
        server = psutil.Process(int((self.data / "postmaster.pid").read_text().split()[0]))
        return [server, *server.children(recursive=True)]

    def new_database(self, name):
        """Create a database and return its URL."""
        self._run("createdb", "-h", self.host, "-p", str(self.port), "-U", USER, name)
        return f"postgresql+psycopg://{USER}@{self.host}:{self.port}/{name}"

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
    """Install PostgreSQL if it is missing, or say why the tests on it are skipped."""
    if find_programs() is not None:
        return
    if reason := install():
        print(
            f"PostgreSQL was not found, and {reason}: the tests on PostgreSQL are SKIPPED. "
            "Install it to run them (Debian: sudo apt-get install postgresql).",
            file=sys.stderr,
        )


def install():
    """Install Debian's package; return why that was not possible, empty if it was."""
    if os.geteuid() != 0:
        return "only root can install it"
    if not shutil.which("apt-get"):
        return "there is no apt-get to install it with"
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update"], ["apt-get", "install", "-y", "postgresql"]):
        try:
            subprocess.run(command, env=environment, check=False, timeout=INSTALL_SECONDS)
        except subprocess.TimeoutExpired:
            return f"`{' '.join(command)}` took more than {INSTALL_SECONDS} s"
    return "" if find_programs() is not None else "its package could not be installed"


if __name__ == "__main__":
    main()
