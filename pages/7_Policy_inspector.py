"""The page Policy inspector; its code is in fsdash/dashboard/inspector."""

from fsdash.dashboard.inspector import view

view.show()
