"""The page Reproduction; its code is in fsdash/dashboard/reproduction."""

from fsdash.dashboard.reproduction import view

view.show()
