"""Teaching material as data: tours through the dashboard, and exercises that check themselves.

Nothing here imports Streamlit. The dashboard draws it, and `tools/exercise_sheet.py` writes it as
Markdown.
"""
