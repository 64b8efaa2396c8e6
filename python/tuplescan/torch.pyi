from typing import Unpack

import torch

from ._options import Started, Ways

def cumsum(
    x: torch.Tensor, dim: int = 0, dtype: torch.dtype | None = None, **options: Unpack[Ways]
) -> torch.Tensor: ...

# Arguments and results are those of cumsum().
cummax = cumsum
cummin = cumsum
cumprod = cumsum

def linear_recurrence(
    a: torch.Tensor | float, b: torch.Tensor, dim: int = 0, **options: Unpack[Started]
) -> torch.Tensor: ...
