"""Copies the dashboard's entry scripts into the package; everything else is in pyproject.toml.

app.py, pages/ and .streamlit/config.toml are at the top of the repository, where `streamlit run
app.py` looks for them. An installed package has them in fsdash/dashboard/app (see
fsdash/dashboard/server.py). An editable installation uses the originals.
"""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ENTRY_SCRIPTS = ("app.py", "pages/*.py", ".streamlit/config.toml")


class BuildWithDashboard(build_py):
    """The usual build of the package, plus the dashboard's entry scripts."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            for source, target in self._entry_scripts():
                self.mkpath(str(target.parent))
                self.copy_file(str(source), str(target))

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        outputs = super().get_outputs(include_bytecode)
        if self.editable_mode:
            return outputs
        return [*outputs, *(str(target) for _, target in self._entry_scripts())]

    def _entry_scripts(self) -> list[tuple[Path, Path]]:
        """Each entry script with its place in the built package."""
        root = Path(__file__).parent
        folder = Path(self.build_lib) / "fsdash" / "dashboard" / "app"
        sources = [source for pattern in ENTRY_SCRIPTS for source in sorted(root.glob(pattern))]
        return [(source, folder / source.relative_to(root)) for source in sources]


setup(cmdclass={"build_py": BuildWithDashboard})
