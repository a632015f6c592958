"""Write the exercises as Markdown: docs/teaching/exercises.md and docs/teaching/solutions.md.

python -m tools.exercise_sheet
"""

from pathlib import Path

from fsdash.teaching.sheet import exercise_sheet

FOLDER = Path(__file__).parents[1] / "docs" / "teaching"
HEAD = """# {title}

The right answers are computed by the library. The page
[Teach](http://127.0.0.1:8501/Teach) checks yours. An address such as
`/Choose_T?budget=4` follows the address of the dashboard, `http://127.0.0.1:8501`. This file is
written by `python -m tools.exercise_sheet`.

"""


def pages() -> dict[str, str]:
    """The content of each file by its name."""
    return {
        "exercises.md": HEAD.format(title="Exercises") + exercise_sheet(),
        "solutions.md": HEAD.format(title="Exercises with solutions")
        + exercise_sheet(solutions=True),
    }


if __name__ == "__main__":
    for name, content in pages().items():
        (FOLDER / name).write_text(content, encoding="utf-8")
