"""The page Exercises; its code is in fsdash/dashboard/exercises."""

from fsdash.dashboard.exercises import view

view.show()
