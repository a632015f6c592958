"""The page Bounds; its code is in fsdash/dashboard/bounds."""

from fsdash.dashboard.bounds import view

view.show()
