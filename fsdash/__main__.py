"""Run the command line with `python -m fsdash`."""

import sys

from fsdash.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
