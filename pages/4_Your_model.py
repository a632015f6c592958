"""The page Your model; its code is in fsdash/dashboard/your_model."""

from fsdash.dashboard.your_model import view

view.show()
