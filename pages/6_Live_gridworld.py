"""The page Live gridworld; its code is in fsdash/dashboard/live_gridworld."""

from fsdash.dashboard.live_gridworld import view

view.show()
