"""Start the dashboard on a host and port, and say plainly where to open it.

`make run` calls this. Nothing here or in Streamlit, as started here, asks an outside host.
"""

import argparse
import errno
import socket
import sys
from pathlib import Path

APP = Path(__file__).resolve().parent.parent / "app.py"
EVERYWHERE = ("0.0.0.0", "::")
# An address reserved for documentation: a route to look up, never a host to talk to.
ELSEWHERE = ("192.0.2.1", 9)


def reachable_addresses() -> list[str]:
    """This machine's own address on the network it uses, if it has one.

    Connecting a UDP socket only chooses a route: no packet leaves the machine.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(ELSEWHERE)
        except OSError:
            return []
        address = probe.getsockname()[0]
    return [] if address.startswith(("127.", "0.")) else [address]


def port_problem(host: str, port: int) -> str | None:
    """Why the port cannot be used, with the remedy, or None when it can."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        # As the server itself does: a port in TIME_WAIT after a stop is free.
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, port))
        except OverflowError:
            return f"PORT={port} is not a port: choose one from 1024 to 65535."
        except PermissionError:
            return f"Port {port} needs more rights: choose one above 1023, such as PORT=8502."
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return (
                    f"Port {port} is taken, perhaps by another fsdash. "
                    f"Stop that one, or choose another: make run PORT={port + 1}"
                )
            return f"HOST={host} is not an address of this machine ({error.strerror})."
    return None


def announcement(host: str, port: int, addresses: list[str]) -> str:
    """What to print before the server starts."""
    shown = host if host not in EVERYWHERE else "127.0.0.1"
    lines = [f"fsdash: http://{_bracketed(shown)}:{port}    (Ctrl+C stops it)"]
    if host in EVERYWHERE:
        lines += [f"from other machines: http://{address}:{port}" for address in addresses]
        if not addresses:
            lines.append("No network address was found: other machines cannot reach this one.")
    return "\n".join(lines)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def start(host: str, port: int, browser_address: str) -> None:
    """Run Streamlit in this process until it is stopped."""
    from streamlit import net_util
    from streamlit.web import cli

    # A visitor who came by a name Streamlit does not know makes it ask an outside host for this
    # machine's public address. We never need the answer.
    net_util.get_external_ip = lambda: None
    sys.argv = [
        "streamlit",
        "run",
        str(APP),
        f"--server.address={host}",
        f"--server.port={port}",
        f"--browser.serverAddress={browser_address}",
        "--logger.hideWelcomeMessage=true",
    ]
    cli.main(prog_name="streamlit")


def main() -> None:
    """Read --host and --port, check them, announce, serve."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8501)
    options = parser.parse_args()
    problem = port_problem(options.host, options.port)
    if problem:
        sys.exit(problem)
    addresses = reachable_addresses() if options.host in EVERYWHERE else [options.host]
    print(announcement(options.host, options.port, addresses), flush=True)
    start(options.host, options.port, addresses[0] if addresses else "127.0.0.1")


if __name__ == "__main__":
    main()
