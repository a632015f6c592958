from .assemble import resplit as resplit
from .columns import guess_columns as guess_columns
from .content import content_hash as content_hash
from .discount import discount_factor as discount_factor
from .faults import DataFaults as DataFaults
from .quantecon import to_quantecon as to_quantecon
from .slow import suggest_slow as suggest_slow
from .transitions import check_transitions as check_transitions
