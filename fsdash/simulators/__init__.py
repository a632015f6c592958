"""Plan where no table exists: simulators, a race of methods, and a certificate of the gap.

`battery`, `lost_sales`, `pricing` and `queue` are one file each, to copy and change.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
