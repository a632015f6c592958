"""What the pages share. The only part of the package that imports Streamlit."""
