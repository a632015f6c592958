"""The page Reward error; its code is in fsdash/dashboard/reward_error."""

from fsdash.dashboard.reward_error import view

view.show()
