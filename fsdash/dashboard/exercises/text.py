"""The wording of the page Exercises."""

PAGE = "Exercises"
TITLE = "Exercises"
INTRODUCTION = (
    "Every exercise is about one page: open it, answer here or there, and check your answer. The "
    "library computes the right answers. Your progress is stored in your browser only."
)
VIEW, VIEWS = "View", {"list": "Exercises and progress", "sheet": "Printable sheet"}
LEVEL, ALL_LEVELS = "Level", {"all": "All"}
SOLUTIONS = "With solutions"
RESULTS_LINK = "Link with my results"
RESULTS_HELP = (
    "Open this link in another browser to continue there, or send it to your lecturer. It holds "
    "the solved exercises and no name. Nothing is stored on the server."
)
ADD, ADD_HELP = "Add them to my progress", "Adds them to the progress stored in this browser."
FORGET, FORGET_HELP = "Delete my progress", "Deletes the progress stored in this browser."
PRINT, DOWNLOAD = "Print", "Download as Markdown"
FILE = "fsdash-exercises.md"


def solved(n: int, of: int) -> str:
    return f"{n} of {of} exercises solved"


def in_link(n: int, of: int) -> str:
    return f"**Results in this link: {solved(n, of)}**"
