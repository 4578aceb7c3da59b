"""Queueing for the shared card: one job at a time holds the lock file named by GPU_LOCK."""
import fcntl
import os
import time

TINY = os.environ.get("TINY") == "1"
DEVICE = "cpu" if TINY else "cuda"

fd = None
if os.environ.get("GPU_LOCK"):
    _fd = os.open(os.environ["GPU_LOCK"], os.O_RDWR | os.O_CREAT, 0o666)
    try:  # keep the low descriptor numbers free
        fd = fcntl.fcntl(_fd, fcntl.F_DUPFD_CLOEXEC, 900)
        os.close(_fd)
    except OSError:
        fd = _fd


def acquire():
    if fd is not None:
        fcntl.flock(fd, fcntl.LOCK_EX)
        time.sleep(0.3)


def shrink(args, **kw):
    """Small settings for a smoke test on a laptop."""
    if TINY:
        for k, v in kw.items():
            setattr(args, k, v)
    return args
