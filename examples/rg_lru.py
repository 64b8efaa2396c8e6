"""A real-gated linear recurrent unit (RG-LRU), whose state is h[t] = a[t] * h[t - 1] + sqrt(1 - a[t]^2) * gated[t] with
an a[t] that the input chooses: tuplescan.torch.linear_recurrence() in a layer of torch, forward and backward, beside a
plain loop over time. Wants torch.

    python rg_lru.py [STEPS [CHANNELS]]

prints

    the state is the loop's: True
    gradients are the loop's: True
    in bfloat16, the state is the loop's in float32 but for its rounding: True
"""

import sys

import torch
import tuplescan.torch


def loop(a, b, dim):
    h, states = torch.zeros_like(b.select(dim, 0)), []
    for a_now, b_now in zip(a.unbind(dim), b.unbind(dim)):
        h = a_now * h + b_now
        states.append(h)
    return torch.stack(states, dim)


class RGLRU(torch.nn.Module):
    """Batch x time x channels to the same. At a gate of 1 a channel keeps sigmoid(decay)^8 of its state each step."""

    def __init__(self, channels, recurrence):
        super().__init__()
        self.recurrence = recurrence
        self.input_gate = torch.nn.Linear(channels, channels)
        self.recurrence_gate = torch.nn.Linear(channels, channels)
        self.decay = torch.nn.Parameter(torch.linspace(2.0, 6.0, channels))

    def forward(self, x):
        log_a = 8 * torch.sigmoid(self.recurrence_gate(x)) * torch.nn.functional.logsigmoid(self.decay)
        gated = torch.sigmoid(self.input_gate(x)) * x
        return self.recurrence(log_a.exp(), torch.sqrt(-torch.expm1(2 * log_a)) * gated, 1)


steps, channels = (int(given) for given in (sys.argv[1:] + ["300", "24"][len(sys.argv) - 1 :]))
torch.manual_seed(1)
ours = RGLRU(channels, tuplescan.torch.linear_recurrence)
plain = RGLRU(channels, loop)
plain.load_state_dict(ours.state_dict())
x, weights = torch.randn(2, 4, steps, channels)
states, gradients = [], []
for layer in (ours, plain):
    given = x.clone().requires_grad_()
    states.append(layer(given))
    (states[-1] * weights).sum().backward()
    gradients.append([given.grad, *(parameter.grad for parameter in layer.parameters())])
print("the state is the loop's:", torch.allclose(*states, rtol=1e-4, atol=1e-5))
close = [torch.allclose(one, other, rtol=1e-3, atol=1e-3) for one, other in zip(*gradients)]
print("gradients are the loop's:", all(close))
b = torch.randn(4, steps, channels).bfloat16()
small, wide = tuplescan.torch.linear_recurrence(0.9, b, 1), loop(torch.tensor(0.9).expand(b.shape), b.float(), 1)
rounded = torch.allclose(small.float(), wide, rtol=2**-8, atol=1e-5)
print("in bfloat16, the state is the loop's in float32 but for its rounding:", rounded)
