"""Choosing a method and T by measurement on the model.

certify     bounds on the regret of a policy, without solving the model
frontier    the true regret of every method and T against its cost
recommend   the method, T and k for a budget: from the frontier, or by a race of sampled methods
suits       whether freezing suits the model at all, with the evidence
"""
