"""Computers of a network on this one, for tests: network namespaces that a bridge connects.

Linux only, and root only; `problem()` says why it is not possible.
"""

import os
import shutil
import subprocess

NETWORK = "10.213.7"
BRIDGE = "fsdash-br"


def problem():
    """Why namespaces cannot be made here; empty if they can."""
    if os.geteuid() != 0:
        return "only root can make network namespaces"
    if not shutil.which("ip"):
        return "there is no command `ip`"
    try:
        with Computers(1):
            return ""
    except subprocess.CalledProcessError as error:
        return f"`{' '.join(error.cmd)}` failed"


class Computers:
    """Some computers, and this one at the address `host`. Use it as a context manager."""

    host = f"{NETWORK}.1"

    def __init__(self, count):
        self.names = [f"fsdash-{n}" for n in range(count)]

    def __enter__(self):
        self._remove()
        try:
            ip(f"link add {BRIDGE} type bridge")
            ip(f"addr add {self.host}/24 dev {BRIDGE}")
            ip(f"link set {BRIDGE} up")
            for n, name in enumerate(self.names):
                ip(f"netns add {name}")
                ip(f"link add fsdash-v{n} type veth peer name eth0 netns {name}")
                ip(f"link set fsdash-v{n} master {BRIDGE} up")
                ip(f"-n {name} addr add {NETWORK}.{n + 2}/24 dev eth0")
                ip(f"-n {name} link set eth0 up")
                ip(f"-n {name} link set lo up")
        except subprocess.CalledProcessError:
            self._remove()
            raise
        return self

    def __exit__(self, *_):
        self._remove()

    def address(self, n):
        """The address of a computer."""
        return f"{NETWORK}.{n + 2}"

    def on(self, n):
        """The beginning of a command that runs on a computer."""
        return ["ip", "netns", "exec", self.names[n]]

    def _remove(self):
        for name in self.names:
            ip(f"netns del {name}", check=False)
        ip(f"link del {BRIDGE}", check=False)


def ip(arguments, check=True):
    """Call the command `ip`."""
    subprocess.run(
        ["ip", *arguments.split()],
        check=check,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
