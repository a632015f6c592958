"""The page Run lab; its code is in fsdash/dashboard/run_lab."""

from fsdash.dashboard.run_lab import view

view.show()
