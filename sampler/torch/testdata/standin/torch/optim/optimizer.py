from collections import OrderedDict

from .. import cuda

_global_optimizer_post_hooks = OrderedDict()


def register_optimizer_step_post_hook(hook):
    _global_optimizer_post_hooks[len(_global_optimizer_post_hooks)] = hook


class Optimizer(object):
    """Its state comes with the first step."""

    def __init__(self, size=0):
        self.size, self.state = size, []

    def step(self):
        if self.size and not self.state:
            self.state.append(cuda.tensor(self.size))
        for hook in _global_optimizer_post_hooks.values():
            hook(self, (self,), {})


if "hookless" in cuda.lies:
    del register_optimizer_step_post_hook
