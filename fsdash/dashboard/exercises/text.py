"""The wording of the page Exercises."""

PAGE = "Exercises"
TITLE = "Exercises"
INTRODUCTION = (
    "Every exercise is about one page: open it, answer here or there, and check the answer. The "
    "right answers are computed, not typed. What you have solved is stored in your browser only."
)
VIEW, VIEWS = "View", {"list": "Exercises and progress", "sheet": "Printable sheet"}
LEVEL, ALL_LEVELS = "Level", {"all": "All"}
SOLUTIONS = "With solutions"
FORGET, FORGET_HELP = "Forget my progress", "Deletes what this browser has stored."
PRINT, DOWNLOAD = "Print", "Download as Markdown"
FILE = "fsdash-exercises.md"


def solved(n: int, of: int) -> str:
    return f"{n} of {of} exercises solved"
