"""What the pages share. The only part of the package that imports Streamlit."""

from fsdash.errors import require

for _module in ("streamlit", "plotly"):
    require(_module, extra="dashboard")
