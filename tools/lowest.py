"""Print the lowest versions that requirements.txt allows, as constraints for pip.

`make test-lowest` installs them into an environment of its own and runs the quick tests there.
"""

import re
from pathlib import Path

REQUIREMENTS = Path(__file__).resolve().parent.parent / "requirements.txt"


def lowest_versions(text: str) -> list[str]:
    """`name==version` for each line `name>=version`."""
    found = re.findall(r"^([\w-]+)>=([\w.]+)", text, flags=re.MULTILINE)
    return [f"{name}=={version}" for name, version in found]


if __name__ == "__main__":
    print("\n".join(lowest_versions(REQUIREMENTS.read_text(encoding="utf-8"))))
