"""The layout of the Policy inspector as CSS: a rail, the figure, and one state in detail.

The columns are in the order figure, rail, state. A wide screen shows the rail on the left and the
state on the right; a medium one puts the state below; a narrow one stacks them in that order. Two
figures side by side need the width, so the state is then below them.
"""

from fsdash.dashboard.widgets.theme import themed
from fsdash.figures.palette import BACKGROUND, Colour

_ROW = '[data-testid="stHorizontalBlock"]:has(> [data-testid="stColumn"] .st-key-rail)'
_COLUMN = '> [data-testid="stColumn"]'
STYLE = f"""<style>
[data-testid="stMainBlockContainer"] {{padding: 3.9rem 2.5rem 4rem;}}
.st-key-head h1 {{font-size: 1.7rem; line-height: 1.3; padding: 0;}}
.st-key-policy-a p {{max-width: none;}}
.st-key-views button {{font-size: 0.92rem; padding: 0.15rem 0.7rem; min-height: 2.1rem;}}
.st-key-below-figure p {{font-size: 0.9rem;}}
.st-key-numbers {{row-gap: 0.2rem; column-gap: 0.9rem;}}
.st-key-numbers [data-testid="stMetricValue"],
.st-key-numbers [data-testid="stMetricValue"] p {{font-size: 1.2rem; line-height: 1.3;}}
.st-key-numbers [data-testid="stMetricLabel"] p {{font-size: 0.76rem;}}
.st-key-aside h5 {{font-size: 1.05rem; padding: 0 0 0.2rem;}}
.st-key-aside p {{font-size: 0.92rem;}}
.st-key-aside table {{font-size: 0.9rem; width: 100%; margin-bottom: 0.3rem;}}
.st-key-aside th, .st-key-aside td {{padding: 0.2rem 0.4rem;}}
{_ROW} {{flex-wrap: wrap; gap: 1.25rem;}}
{_ROW} {_COLUMN}:has(.st-key-stage) {{flex: 1 1 20rem; min-width: 0; width: auto;}}
{_ROW} {_COLUMN}:has(.st-key-rail) {{flex: 0 0 12.5rem; min-width: 0; width: auto; order: -1;}}
{_ROW} {_COLUMN}:has(.st-key-aside) {{flex: 0 0 16.5rem; min-width: 0; width: auto;}}
{_ROW}:has(.st-key-two-figures) {_COLUMN}:has(.st-key-aside) {{flex: 1 1 100%;}}
@media (max-width: 1180px) {{
  .st-key-head h1 {{font-size: 1.4rem;}}
  {_ROW} {_COLUMN}:has(.st-key-aside) {{flex: 1 1 100%;}}
}}
@media (max-width: 900px) {{
  [data-testid="stMainBlockContainer"] {{padding-left: 1rem; padding-right: 1rem;}}
  {_ROW} {_COLUMN}:is(:has(.st-key-stage), :has(.st-key-rail)) {{flex: 1 1 100%; order: 0;}}
}}
@media (max-width: 640px) {{
  .st-key-views [role="radiogroup"] {{flex-wrap: nowrap; overflow-x: auto;}}
  .st-key-views [role="radiogroup"] > * {{flex-shrink: 0;}}
}}
</style>"""


def badge(letter: str, colour: Colour) -> str:
    """The letter of a policy on its colour, as HTML."""
    look = (
        f"background:{colour};color:{BACKGROUND};border-radius:0.3rem;"
        "padding:0.05rem 0.45rem;font-weight:700;"
    )
    return themed(f'<span style="{look}">{letter}</span>')
