"""The page Choose T; its code is in fsdash/dashboard/choose_t."""

from fsdash.dashboard.choose_t import view

view.show()
