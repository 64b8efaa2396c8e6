"""Generalized advantage estimation for many environments side by side: one linear recurrence from the last step on,
beside the loop that it replaces. A step that ends an episode lets nothing of the next one through.

    python gae.py [STEPS [ENVIRONMENTS]]

prints

    advantages are the loop's to 1 in 100000: True
"""

import sys

import numpy as np
import tuplescan

GAMMA, LAMBDA = 0.99, 0.95


def by_a_loop(rewards, values, ends, last):
    advantages, later, after = np.empty_like(rewards), last, 0.0
    for i in reversed(range(len(rewards))):
        goes_on = ~ends[i]
        error = rewards[i] + GAMMA * later * goes_on - values[i]
        after = advantages[i] = error + GAMMA * LAMBDA * goes_on * after
        later = values[i]
    return advantages


def by_a_recurrence(rewards, values, ends, last):
    later = np.concatenate([values[1:], last[None]])
    errors = rewards + GAMMA * np.where(ends, 0, later) - values
    return tuplescan.discounted_returns(errors, GAMMA * LAMBDA, ends)


steps, environments = (int(given) for given in (sys.argv[1:] + ["2000", "16"][len(sys.argv) - 1 :]))
random = np.random.default_rng(1)
rewards, values = random.normal(size=(2, steps, environments)).astype(np.float32)
ends = random.random((steps, environments)) < 0.01
last = random.normal(size=environments).astype(np.float32)
wanted, got = (way(rewards, values, ends, last) for way in (by_a_loop, by_a_recurrence))
print("advantages are the loop's to 1 in 100000:", np.allclose(got, wanted, rtol=1e-5, atol=1e-5))
