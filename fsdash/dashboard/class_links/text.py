"""The wording of the page Class."""

from collections.abc import Sequence

from fsdash.formatting import escape_markdown, number

PAGE = "Class"
TITLE = "Ask your class"
INTRODUCTION = (
    "Create a task: a page of this dashboard in a given state, and a question about it. Share one "
    "link with your class and watch the answers arrive. Answers are anonymous: no name, no address "
    "and no time is stored."
)
FROM_EXERCISE, NO_EXERCISE = "Start from an exercise", "none"
LINK = "Link to the page"
LINK_HELP = (
    "Set the page up as the class should see it, then copy its address from the browser. It must "
    "be a page of this dashboard."
)
LINK_EXAMPLE = "such as Choose_T?budget=4"
QUESTION = "Question"
OPTIONS = "Answers to choose from, one per line"
OPTIONS_HELP = "Leave this empty to ask for a number."
DAYS = "The task expires after"
DAY_LABELS = {1: "1 day", 7: "1 week", 30: "30 days"}
CREATE = "Create the task"

STUDENT_LINK = "Link for the class"
LECTURER_LINK = (
    "The address of this page holds your key. Keep it to come back to the results, and do not "
    "share it: anyone who has it can close and delete the task."
)
LOCAL_LINK = (
    "This link works on this computer only. Start the server for the network (`make run "
    "HOST=0.0.0.0`), open the dashboard at the network address of this computer, such as "
    "`http://192.168.0.7:8501`, and open your task there. The link then has that address."
)
SHOW, SHOW_HELP = "Show the answers", "Hide them until everyone has answered."
RESULTS = "Answers"
WRONG_KEY = "The key in this link is wrong. Open the task with your own link."
ACCEPTING = "Accept answers"
DELETION, DELETION_QUESTION = "Delete", "What do you want to delete? This cannot be undone."
CLEAR, CLEAR_HELP = "Delete the answers", "Keeps the task, so that you can ask again."
DELETE, DELETE_HELP = "Delete the task", "Deletes the task and its answers permanently."
NEW = "New task"
DELETED = "The task and its answers were deleted."

YOUR_ANSWER, SEND, CHANGE = "Your answer", "Send", "Change my answer"
CLOSED = "The task is closed: answers are no longer accepted."
ANONYMOUS = "Your answer is anonymous. Each browser counts once; you can change your answer."
WAITING = "Waiting for the browser …"


def open_page(title: str) -> str:
    return f"Open {title} in a new tab"


def count(n: int) -> str:
    return f"{n:,} answer{'' if n == 1 else 's'}"


def answered(answer: str) -> str:
    return f"Your answer has arrived: **{answer}**"


def answer_label(options: Sequence[str], value: float) -> str:
    """An answer in words, safe as Markdown."""
    return escape_markdown(options[int(value)]) if options else number(value)


def alt_text(question: str, labels: Sequence[str], counts: Sequence[int]) -> str:
    """The figure in words."""
    parts = ", ".join(f"{label}: {n}" for label, n in zip(labels, counts, strict=True))
    return f"Answers to “{question}”. {parts}."


def mean_and_median(mean: float, median: float) -> str:
    return f"Mean {number(mean)}, median {number(median)}."
