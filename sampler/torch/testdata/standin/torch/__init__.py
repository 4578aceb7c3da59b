"""A torch without a GPU, whose figures and misbehavior STANDIN says."""
import os
import types

lies = os.environ.get("STANDIN", "").split(",")
__version__ = "2.9.0+standin"
observers = []


class OutOfMemoryError(RuntimeError):
    pass


_C = types.SimpleNamespace()
if "bare" not in lies:
    if "observerless" not in lies:
        _C._cuda_attach_out_of_memory_observer = observers.append
    _C._cuda_getDeviceCount = lambda: int(os.environ.get("STANDIN_DEVICES", "1"))
    _C._cuda_isHistoryEnabled = lambda: cuda.history is not None



def __getattr__(name):
    """As torch imports some of its parts: when somebody asks for them."""
    if name == "_inductor":
        import importlib

        return importlib.import_module("." + name, __name__)
    raise AttributeError("module %r has no attribute %r" % (__name__, name))


from . import cuda  # noqa
from . import optim  # noqa


def refuse(size, device=0, free=300 << 20):
    """What the allocator does when it has to give up."""
    cuda.ooms += 1
    for observer in observers:
        if "odd" in lies:
            observer("0", [size], None)
            observer()
            observer(-1, 2**70, 0, 0)
        observer(device, size, 80 << 30, free)
    raise OutOfMemoryError("CUDA out of memory. Tried to allocate %d" % size)
