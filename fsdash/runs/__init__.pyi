from .summary import work_to_reach as work_to_reach
