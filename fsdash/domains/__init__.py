"""Domains: frozen configurations that build the models of the paper, and those of the user.

`make("inventory", d_max=50)` returns a configuration, and `.build()` its model. See
`fsdash.domains.registry` for how to add a domain.

The names are loaded on first use, so that a user's module, which imports `fsdash.domains.base`,
can be imported before or by the registry.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
