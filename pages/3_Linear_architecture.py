"""The page Linear architecture; its code is in fsdash/dashboard/linear_architecture."""

from fsdash.dashboard.linear_architecture import view

view.show()
