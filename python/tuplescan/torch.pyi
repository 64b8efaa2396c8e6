import torch

def cumsum(
    x: torch.Tensor, dim: int = 0, dtype: torch.dtype | None = None, *, exclusive: bool = False, reverse: bool = False
) -> torch.Tensor: ...
