"""Gradients of a forward pass that disables them, as published code for inference does.

Under torch.inference_mode() operators arrive undivided (aten.linear), and autograd keeps nothing; under torch.no_grad() it keeps nothing. A
capture describes training, so a network none of whose weights would be trained runs again with gradients.
"""

import contextlib

import torch


class NoGradient:
    """In place of torch._C._InferenceMode: gradients are off, and operators arrive as in training."""

    def __init__(self, mode=True):
        self._before = torch.is_grad_enabled()
        self._ended = False
        if mode:
            torch._C._set_grad_enabled(False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if not self._ended:
            torch._C._set_grad_enabled(self._before)
        self._ended = True

    __del__ = __exit__  # PyTorch 1.13 ends the mode by deleting it


class Ignored:
    def __init__(self, *_):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


@contextlib.contextmanager
def gradient_modes(always):
    """Replaces what torch.inference_mode(), torch.no_grad() and torch.set_grad_enabled() call; with `always`, gradients stay on."""
    replaced = {"_InferenceMode": NoGradient}
    if always:
        replaced = {"_InferenceMode": Ignored, "_set_grad_enabled": lambda mode: None}
    original = {name: getattr(torch._C, name) for name in replaced}
    for name, replacement in replaced.items():
        setattr(torch._C, name, replacement)
    try:
        with torch.enable_grad():
            yield
    finally:
        for name, function in original.items():
            setattr(torch._C, name, function)
