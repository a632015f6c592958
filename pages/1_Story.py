"""The page The story; its code is in fsdash/dashboard/story."""

from fsdash.dashboard.story import view

view.show()
