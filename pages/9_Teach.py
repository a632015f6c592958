"""The page Teach; its code is in fsdash/dashboard/teach."""

from fsdash.dashboard.teach import view

view.show()
