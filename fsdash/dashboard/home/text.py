"""The wording of the home page."""

START_REASON = """Ten short sections with live figures, from value iteration to the limits of
freezing. Read it alone in an evening, or present it to a class in one lecture."""
STORY = {
    "The problem": """Your stock changes **every day**; the season behind demand changes **over
months**. A *fast-slow* decision problem has both: a fast state $y$ that changes a lot in each
period and a slow state $x$ that drifts. Planning far ahead in single periods, with both states
moving, is expensive.""",
    "The idea": """**Only while planning**, assume that $x$ stays where it is for $T$ periods. Each
block of $T$ periods becomes a small problem that is solved once. A second plan, the upper level,
uses the true dynamics and moves from block to block, $T$ periods at a time.""",
    "The cost": """The world is never frozen, so the plan is not exact: it uses an old $x$, and it
ignores what comes after the end of its block. These pages show **how large the error is, and when
freezing pays off anyway.**""",
}

PICTURES = {"policy": "The policy", "lower": "The lower level", "upper": "The upper level"}
"""The pictures by their names in the URL."""
CAPTIONS = {
    "policy": "Solid: the true slow state. Dashed: the slow state in the plan, frozen in each "
    "block. This is a sketch; each state has its own scale.",
    "lower": "The lower level is solved once, by backward induction from the end of a block. The "
    "frozen x does not change, so each x is a separate problem. The value after the block is set "
    "to 0.",
    "upper": "The upper level uses the true dynamics, but decides only every T periods. Its "
    "discount is γ to the power T, so it needs far fewer iterations.",
}


def start_tour(audience: str, minutes: int) -> str:
    return f"Start the tour {audience.lower()}, about {minutes} minutes"


COMMANDS = """\
fsdash advise --sweeps 4                             # choose T for a computing budget
fsdash constants inventory                           # measure alpha and the Lipschitz constants
fsdash solve inventory --method fsvi -T 6            # solve with FSVI and compute the true regret
fsdash run inventory --algorithm e-vi,e-fsvi -T 3,6  # learning curves with replications
fsdash reproduce --quick                             # the paper's figures and claims
fsdash --help                                        # all commands"""
