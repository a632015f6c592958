"""The layout of the Live gridworld as CSS, and the head of each map as HTML.

Three maps side by side, the controls below them, and the curves. Where the maps would be too small,
a swipe shows the next one.
"""

from html import escape

_ROW = '.st-key-maps [data-testid="stHorizontalBlock"]'
STYLE = f"""<style>
[data-testid="stMainBlockContainer"] {{padding: 3.6rem 2.5rem 4rem;}}
[data-testid="stMainBlockContainer"] h1 {{font-size: 1.7rem; line-height: 1.3;
  padding: 0 0 0.3rem;}}
.st-key-race {{gap: 0.6rem;}}
.st-key-race [data-testid="stMarkdownContainer"] p {{max-width: none;}}
.st-key-maps [data-testid="stColumn"] {{min-width: 0;}}
.st-key-maps [data-testid="stVerticalBlock"] {{gap: 0.2rem;}}
.st-key-maps [data-testid="stMarkdownContainer"] {{margin-bottom: 0;}}
.st-key-reading [data-testid="stMarkdownContainer"] {{margin-bottom: 0;}}
.st-key-maps {{container: maps / inline-size;}}
.fs-head {{display: grid; grid-template-columns: 1fr auto; line-height: 1.3;
  align-items: baseline;}}
.fs-head b {{font-size: 1.02rem;}}
.fs-head strong {{font-size: 1.35rem; line-height: 1.2; font-variant-numeric: tabular-nums;}}
.fs-head small {{font-size: 0.85rem; grid-column: span 2; white-space: nowrap; overflow: hidden;
  text-overflow: ellipsis;}}
@container maps (max-width: 860px) {{
  .fs-head small {{white-space: normal; min-height: 2lh;}}
}}
@container maps (max-width: 560px) {{
  .fs-head small {{white-space: nowrap; min-height: 1lh;}}
  {_ROW} {{flex-wrap: nowrap; overflow-x: auto; scroll-snap-type: x mandatory;
    padding-bottom: 0.3rem;}}
  {_ROW} > [data-testid="stColumn"]
    {{flex: 0 0 min(86%, 323px); min-width: min(86%, 323px); scroll-snap-align: center;}}
}}
.st-key-playback {{row-gap: 0.4rem;}}
.st-key-reading p {{min-height: 3em; margin: 0;}}
@media (max-width: 640px) {{
  [data-testid="stMainBlockContainer"] {{padding: 3.6rem 1rem 4rem;}}
  [data-testid="stMainBlockContainer"] h1 {{font-size: 1.3rem;}}
  .st-key-playback button {{padding: 0.2rem 0.7rem;}}
  .st-key-reading p {{min-height: 6em;}}
}}
</style>"""


def map_head(title: str, status: str, share: float, colour: str) -> str:
    """The name, the state and the share of a method, as HTML of a fixed height."""
    mark = f'<span style="color:{colour}">■</span>'
    return (
        f'<div class="fs-head"><b>{mark} {escape(title)}</b><strong>{share:.1%}</strong>'
        f"<small>{escape(status)}</small></div>"
    )
