from collections.abc import Sequence
from typing import Unpack

import torch

from ._options import Started, Ways

def cumsum(
    x: torch.Tensor, dim: int = 0, dtype: torch.dtype | None = None, **options: Unpack[Started]
) -> torch.Tensor: ...

# Arguments and results as for cumsum().
nancumsum = cumsum

def cummax(
    x: torch.Tensor, dim: int = 0, dtype: torch.dtype | None = None, **options: Unpack[Ways]
) -> torch.Tensor: ...

# Arguments and results as for cummax().
cummin = cummax
cumprod = cummax

def segmented_cumsum(
    x: torch.Tensor, offsets: torch.Tensor | Sequence[int], dtype: torch.dtype | None = None, **options: Unpack[Ways]
) -> torch.Tensor: ...

def linear_recurrence(
    a: torch.Tensor | float, b: torch.Tensor, dim: int = 0, **options: Unpack[Started]
) -> torch.Tensor: ...
