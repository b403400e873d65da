"""Which positions a query may look at: booleans, true = may attend."""

import torch
from torch import Tensor


def padding(keys: Tensor, queries: int) -> Tensor:
    """`keys` (B, M), true where a token is real -> (B, queries, M): padding is never looked at."""
    return keys[:, None, :].expand(-1, queries, -1)


def causal(keys: Tensor, queries: int) -> Tensor:
    """As `padding`, and no query looks at what comes after itself (section 3.2.3).

    The queries are the last ones of the keys' positions; without a cache they are all of them.
    """
    length = keys.shape[1]
    order = torch.arange(length, device=keys.device)
    seen = order[None, :] <= order[length - queries :, None]  # (queries, M)
    return padding(keys, queries) & seen
