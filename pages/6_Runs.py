"""The page Runs; its code is in fsdash/dashboard/runs."""

from fsdash.dashboard.runs import view

view.show()
