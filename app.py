"""The page Home; its code is in fsdash/dashboard/home."""

from fsdash.dashboard.home import view

view.show()
