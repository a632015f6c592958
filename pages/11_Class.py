"""The page Class; its code is in fsdash/dashboard/class_links."""

from fsdash.dashboard.class_links import view

view.show()
