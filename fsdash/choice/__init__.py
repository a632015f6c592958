"""Choosing a method and T by measurement on the model.

certify     bounds on the regret of a policy, without solving the model
frontier    the true regret of every method and T against its cost
plan        the best policy for a budget, with a certified gap that shrinks
simulation  many simulated paths of a policy, summarised
solved      a model with its optimum, and the one verdict on whether freezing suits it
splits      splits into slow and fast variables, ranked by the true regret of freezing
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
