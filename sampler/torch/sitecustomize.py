# Tells nvpeak what PyTorch's allocator holds. `nvpeak run` puts the directory of this file in front of PYTHONPATH,
# so that every Python program below it reads it at its start. It has to be unnoticeable:
#
#   - nothing happens before somebody imports torch, and nothing but a look at a flag before CUDA is initialized;
#   - torch is only asked from a thread of this file, which takes no signals, is in nobody's list of threads, and asks
#     less often what was slow to answer. No exception of torch reaches the program;
#   - no descriptor is kept: a program may close them all, and use their numbers again;
#   - what cannot be sent at once is not sent.
#
# Old interpreters read this file too: its syntax is that of all of them.
import os
import sys

EVERY = 1.0  # seconds between two readings
SOON = 0.1  # between two looks at whether CUDA is initialized, at first
SHARE = 100  # a reading may take that part of the time
BLOCKS_SHARE = 500  # the same for a look at all blocks
BLOCKS_MOST = 2000  # blocks that are looked at without a failure
BLOCKS_LIMIT = 0.3  # seconds that summing them up may take
MANY = "too many blocks to sum up in time"
BLOCKS_KEPT = 5.0  # seconds for which the largest free one is told
PATIENCE = 0.5  # seconds that a failure waits for its details
LINES_PATIENCE = 2.0  # the same where lines are named
PART = 0.02  # seconds that a fork waits for the thread to end, and as long again for the kernel to see it
SLOW = 0.05  # seconds of computing, or ten times that of waiting, for one reading are told
LAST = 0.3  # seconds that the end of the program waits for the last reading
MOST = 1 << 60  # bytes that can be
STATS = (
    ("allocated", "allocated_bytes.all.current"),
    ("reserved", "reserved_bytes.all.current"),
    ("split", "inactive_split_bytes.all.current"),
    ("peak_allocated", "allocated_bytes.all.peak"),
    ("peak_reserved", "reserved_bytes.all.peak"),
    ("retries", "num_alloc_retries"),
    ("ooms", "num_ooms"),
)


def whole(value):
    """A figure as it is, or None. Nothing of what a type of somebody else's may do is called."""
    return value if type(value) is int and 0 <= value < MOST else None


def plain(text):
    """A text that needs no quoting in JSON."""
    return "".join(c if c.isalnum() and c < "\x7f" or c in "-,./+_" else "?" for c in str(text)[:1000])


def sockets(directories):
    """Where somebody listens, in directories that are this user's own."""
    for directory in directories:
        try:
            if os.lstat(directory).st_uid == os.geteuid():
                for name in os.listdir(directory):
                    if name.endswith(".sock"):
                        yield os.path.join(directory, name)
        except Exception:
            pass


def members(numbers):
    return ['"%s":%d' % item for item in numbers.items() if item[1] is not None]


class NvpeakReporter(object):
    """A finder of modules that finds none, but sees when torch is looked for."""

    def __init__(self, directories, runs, by_line=None):
        # Taken now: a program may replace them by something that is no thread.
        import time
        from _thread import allocate_lock, get_ident, start_new_thread

        self.directories, self.clock, self.sleep, self.computed = directories, time.monotonic, time.sleep, time.thread_time
        self.lock, self.thread, self.ident = allocate_lock, start_new_thread, get_ident
        self.started = self.silent = self.ending = self.initialized = False
        self.runs, self.by_line = runs, by_line
        self.begin()

    def begin(self):
        """The state of a process that has reported nothing yet."""
        self.pid, self.wake, self.waiting = os.getpid(), self.lock(), []
        self.wake.acquire()
        self.shift, self.task, self.pause, self.parted, self.busy, self.deaf = 0, 0, SOON, False, False, False
        self.names, self.used, self.turn, self.every = {}, set(), 0, EVERY
        self.due = self.stats_took = self.blocks_due = self.details_due = self.flag_took = 0.0
        self.free, self.free_at = {}, 0.0
        self.refusals = {}
        self.misses, self.blind = None, None  # what torch does not tell, and why
        self.asked_at = None  # for figures, which it has not told yet
        self.lines = self.by_line and self.by_line(self)

    def find_spec(self, name, path=None, target=None):
        if not self.started and (name == "torch" or "torch" in sys.modules):
            self.started = True
            try:
                import atexit

                os.register_at_fork(after_in_child=self.forked)
                if sys.version_info >= (3, 12):  # which warns of a fork while there are other threads
                    os.register_at_fork(before=self.part, after_in_parent=self.resume)
                atexit.register(self.finish)
                self.thread(self.run, (self.shift,))
            except Exception:
                self.silent = True
        elif self.lines and not self.lines.queued:
            try:
                self.lines.queue()
            except Exception:
                self.lines.queued = True
        return None

    def forked(self):
        """A child cannot use the CUDA of its parent; what it seems to hold is the parent's. Without, it begins anew."""
        try:
            slow = self.flag_took > 0.01
            self.silent = self.silent or self.initialized or slow or self.ready()
            if not self.silent:
                self.begin()
                self.thread(self.run, (self.shift,))
        except BaseException:
            self.silent = True

    def part(self):
        """Ends the thread for as long as a fork takes, unless it is waiting for torch."""
        try:
            if self.silent or self.ending or self.busy and self.deaf:
                return
            self.shift += 1
            self.parted = self.ask().acquire(True, PART)
            if not self.parted:
                self.shift, self.deaf = self.shift - 1, True
            limit = self.clock() + PART
            while self.parted and os.path.exists("/proc/self/task/%d" % self.task) and self.clock() < limit:
                self.sleep(0.0001)
        except Exception:
            pass

    def resume(self):
        try:
            if self.parted:
                self.parted = False
                self.thread(self.run, (self.shift,))
        except Exception:
            self.silent = True

    def finish(self):
        """The last reading: a program may end between two."""
        if self.silent or self.pid != os.getpid() or self.ending:
            return
        self.ending = True
        if self.stats_took < 0.1 and not self.ask().acquire(True, LAST):
            self.late(0)

    def ask(self):
        """Wakes the thread; the lock that is returned is free when it has looked."""
        done = self.lock()
        done.acquire()
        self.waiting.append(done)
        try:
            self.wake.release()
        except RuntimeError:  # it is awake
            pass
        return done

    def run(self, shift):
        try:
            import _signal

            valid = getattr(_signal, "valid_signals", lambda: range(1, _signal.NSIG))  # new in 3.8
            _signal.pthread_sigmask(_signal.SIG_BLOCK, valid())  # they are the program's
            from _thread import get_native_id  # new in 3.8

            self.task = get_native_id()
        except BaseException:
            pass
        while self.step(shift):
            pass

    def step(self, shift):
        """Waits, looks, and says whether to go on."""
        waiting, ending, over = [], False, False
        try:
            self.wake.acquire(True, self.pause)
            self.busy, ending, over = True, self.ending, shift != self.shift
            while self.waiting:
                waiting.append(self.waiting.pop())
            if over:
                pass
            elif not self.initialized:
                self.pause = 0.005 if self.lines and self.lines.wanted else min(self.pause * 1.05, EVERY)
                self.initialized = self.ready()
                if self.initialized:
                    self.attach()
            if self.lines and not over:
                self.lines.serve(self.initialized)
            if self.initialized and not over:
                self.pause = self.report(len(waiting) > 0)
        except BaseException:
            self.pause = 10 * EVERY
        self.busy = self.deaf = False
        for done in waiting:
            done.release()
        return not ending and not over

    @staticmethod
    def reason(error):
        """What an exception says, as a text that needs no quoting in JSON."""
        text = str(error).split("\n")[0][:200]
        return "".join(c if " " <= c < "\x7f" and c not in '"\\' else "?" for c in type(error).__name__ + (": " + text if text else ""))

    def because(self, what, error):
        """What is missing, and why; the exception, whose words may raise, is not kept."""
        try:
            return what, self.reason(error)
        except BaseException:
            return what, ""

    @staticmethod
    def cuda():
        # Not as an attribute of torch: asking for one may import it.
        return sys.modules.get("torch.cuda") or vars(sys.modules["torch"]).get("cuda")

    def ready(self):
        """Whether the program has initialized CUDA. It is never done here."""
        began = self.clock()
        try:
            return self.cuda().is_initialized() is True
        except BaseException:
            return False
        finally:
            self.flag_took = self.clock() - began

    def attach(self):
        """Asks to be called when a tensor is refused."""
        try:
            torch = sys.modules["torch"]
            # 2.0 calls with the allocator locked, and whoever asks it for figures meanwhile would wait for ever.
            if not str(getattr(torch, "__version__", "")).startswith("2.0."):
                torch._C._cuda_attach_out_of_memory_observer(lambda *about: self.refused(about))
        except BaseException as error:
            self.blind = self.because("observer", error)

    def refused(self, about):
        """In a thread of the program, at the failure: (device, size, memory or limit, free memory)."""
        done = None
        try:
            device, size = whole(about[0]), whole(about[1])
            if device is None or size is None or self.silent or self.pid != os.getpid():
                return
            count = self.refusals.get(device, {}).get("n", 0) + 1
            self.refusals[device] = oom = {"n": count, "size": size, "at": self.clock()}
            oom["free"] = whole(about[3]) if len(about) > 3 else None
            self.send([self.message(device, {})])  # the details may be long in coming
            if self.clock() >= self.details_due:
                if self.lines and self.lines.on:
                    self.lines.refused(device)
                self.details_due = self.clock() + EVERY
                done = self.ask()
        except Exception:
            pass
        # A signal's handler may raise here, as anywhere in the program.
        if done is not None and not done.acquire(True, LINES_PATIENCE if self.lines and self.lines.on else PATIENCE):
            self.details_due = self.clock() + 60 * EVERY
            self.late(device)

    def late(self, device):
        """Tells that torch does not answer, for whoever goes on without."""
        try:
            asked = self.asked_at
            if asked is not None and not self.misses:
                self.misses = "late", "%.2f" % (self.clock() - asked)
                self.send([self.message(device, {})])
        except Exception:
            pass

    def report(self, asked):
        """Reads and sends what is due; returns how long to wait."""
        now = self.clock()
        if now >= self.due or asked and self.stats_took < 0.01:
            computed = self.computed()
            self.asked_at = now
            readings = self.read()
            self.asked_at, self.stats_took = None, self.clock() - now
            if (not self.misses or self.misses[0] == "late") and (self.computed() - computed > SLOW or self.stats_took > 10 * SLOW):
                self.misses = "slow", "%.2f" % self.stats_took
            self.every = max(EVERY, SHARE * self.stats_took)
            self.due = now + self.every
        elif asked:
            readings = {device: {} for device in list(self.refusals)}
        else:
            return self.due - now
        try:
            self.look(readings)
        except BaseException:
            pass
        messages = [self.message(device, figures) for device, figures in readings.items()]
        if self.lines and self.lines.on:
            new = {d: o for d, o in list(self.refusals.items()) if "looked" in o and "told" not in o}
            for o in new.values():
                o["told"] = None
            messages += self.lines.messages(new)
        self.send(messages)
        return max(self.due - self.clock(), SOON)

    def read(self):
        """The figures of the devices that were used, and of one other."""
        cuda, readings = self.cuda(), {}
        self.misses = None
        count = self.devices(cuda)
        self.turn += 1
        for device in range(count):
            if self.turn > 1 and device not in self.used and device not in self.refusals and device != self.turn % count:
                continue
            try:
                stats = cuda.memory_stats(device)
                if not hasattr(stats, "get"):
                    self.misses = "odd", ""
                    continue
                figures = {name: whole(stats.get(key)) for name, key in STATS}
                if None in (figures["allocated"], figures["reserved"]) or figures["allocated"] > figures["reserved"]:
                    self.misses = "odd", ""
                if figures["reserved"] or figures["peak_reserved"] or device in self.refusals:
                    active, split = whole(stats.get("active.all.current")), whole(stats.get("inactive_split.all.current"))
                    figures["blocks"] = (active or 0) + (split or 0)
                    self.used.add(device)
                    self.name(device)
                    readings[device] = figures
            except BaseException as error:
                self.misses = self.because("stats", error)
                if self.lines:
                    readings[device] = {}  # what is told of lines is of this run all the same
        if self.misses and not readings:
            readings[0] = {}  # that it is missing is told all the same
        return readings

    def devices(self, cuda):
        # torch.cuda.device_count may open the driver's library a second time.
        for ask in (lambda: sys.modules["torch"]._C._cuda_getDeviceCount(), lambda: cuda.device_count()):
            try:
                count = whole(ask())
                if count:
                    return min(count, 64)
            except BaseException:
                pass
        return 1

    def look(self, readings):
        """Finds the free blocks: at a failure just now, else when that is cheap."""
        now = self.clock()
        failures = {d: o for d, o in list(self.refusals.items()) if now - o["at"] < EVERY and "looked" not in o}
        lines = self.lines if self.lines and self.lines.on else None
        if lines and lines.looking:
            pass
        elif not failures and (now < self.blocks_due or sum(f.get("blocks", 0) for f in readings.values()) > BLOCKS_MOST or self.history()):
            return
        for o in failures.values():
            o["looked"] = None
        self.free = {}
        try:
            segments = self.segments()
            self.free = self.blocks(segments)
            self.free_at = now
            if lines:
                lines.take(segments, readings, failures)
            del segments  # it may be large
        except BaseException as error:
            if lines:
                lines.unseen(self.reason(error))
            raise
        finally:
            if lines and lines.looking:
                lines.looked(now)
            took = self.clock() - now
            self.blocks_due = now + (max(EVERY / 2, BLOCKS_SHARE * took) if self.free else 60 * EVERY)
            if failures:
                self.details_due = max(self.details_due, now + max(EVERY, 20 * took))
        for device, o in failures.items():
            o.update(zip(("largest", "split", "whole"), self.free.get(device, ())))
            o.update((k, readings.get(device, {}).get(k)) for k in ("allocated", "reserved"))

    @staticmethod
    def history():
        """Whether the program records what it allocates, which makes looking expensive."""
        try:
            return sys.modules["torch"]._C._cuda_isHistoryEnabled() is True
        except BaseException:
            return False

    def segments(self):
        """The allocator's segments. PyTorch looks into torch._inductor for stacks of compiled code, and asking for it imports it: seconds of work, in
        this thread, and one in which the program imports another part of torch sees half of it and fails. While it is asked for here, only what is
        imported already is there."""
        names, me = vars(sys.modules["torch"]), self.ident()
        lazily = names.get("__getattr__")

        def present(name):
            if self.ident() == me:
                raise AttributeError(name)
            return lazily(name)

        if lazily is not None:
            names["__getattr__"] = present
        try:
            return self.snapshot()
        finally:
            if names.get("__getattr__") is present:
                names["__getattr__"] = lazily

    def snapshot(self):
        cuda = self.cuda()
        ask = getattr(cuda, "memory_snapshot", None)
        if "include_traces" in getattr(getattr(ask, "__code__", None), "co_varnames", ()):
            return ask(include_traces=False)
        try:
            found = cuda.memory._snapshot()
        except Exception:
            if ask is None:
                raise
            found = ask()
        return found["segments"] if isinstance(found, dict) else found

    def blocks(self, segments):
        """For each device: the largest free block, what is free in segments that are partly used, and in the others."""
        found = {}
        limit = self.clock() + BLOCKS_LIMIT
        for segment in segments:
            if self.clock() > limit:
                raise RuntimeError(MANY)
            largest, free, used = 0, 0, False
            for n, block in enumerate(segment["blocks"], 1):
                size = whole(block["size"])
                if block["state"] != "inactive":
                    used = True
                elif size:
                    largest, free = max(largest, size), free + size
                if n % 512 == 0 and self.clock() > limit:
                    raise RuntimeError(MANY)
            most, split, rest = found.get(whole(segment.get("device")), (0, 0, 0))
            found[whole(segment.get("device"))] = (max(most, largest), split + free * used, rest + free * (not used))
        return found

    def name(self, device):
        """Notes which GPU this is, as far as torch and the environment say."""
        if device in self.names:
            return
        self.names[device] = name = {}
        try:
            p = self.cuda().get_device_properties(device)
            if hasattr(p, "uuid"):
                name["uuid"] = plain(p.uuid)
            bus = tuple(whole(getattr(p, "pci_%s_id" % part, None)) for part in ("domain", "bus", "device"))
            if None not in bus:
                name["pci"] = "%08X:%02X:%02X.0" % bus
        except BaseException:
            pass

    def message(self, device, figures):
        """One reading as a line of JSON."""
        numbers = dict(figures, v=1, device=device, next_ms=int(self.every * 1000))
        numbers.pop("blocks", None)
        if self.clock() - self.free_at < BLOCKS_KEPT and device in self.free:
            numbers["largest"] = self.free[device][0]
        texts = dict(self.names.get(device, {}), run=self.runs)
        if self.lines and self.lines.lacks:
            texts.update(lacks=self.lines.lacks, why=self.lines.why, torch=plain(self.lines.version))
        try:
            texts["torch"] = plain(sys.modules["torch"].__version__)
        except BaseException:  # it is something of somebody else's
            pass
        misses = self.misses or self.blind
        if misses:
            texts.update(misses=misses[0], missed=misses[1])
        for key, variable in (("visible", "CUDA_VISIBLE_DEVICES"), ("order", "CUDA_DEVICE_ORDER")):
            if variable in os.environ:
                texts[key] = plain(os.environ[variable])
        parts = members(numbers) + ['"%s":"%s"' % item for item in texts.items()]
        oom = self.refusals.get(device)
        if oom:
            oom = dict(oom, ago_ms=int((self.clock() - oom["at"]) * 1000))
            del oom["at"]
            parts.append('"oom":{%s}' % ",".join(members(oom)))
        return "{%s}" % ",".join(parts)

    def send(self, messages):
        if not messages:
            return
        import _socket

        s = _socket.socket(_socket.AF_UNIX, _socket.SOCK_DGRAM)
        try:
            for path in sockets(self.directories):
                for text in messages:
                    try:
                        s.sendto(text.encode("ascii"), _socket.MSG_DONTWAIT, path)
                    except Exception:
                        break
        finally:
            s.close()


here = os.path.dirname(os.path.abspath(__file__))


def install():
    run = plain(os.path.basename(here))  # the monitor that this file is of
    for other in sys.meta_path:
        if type(other).__name__ == "NvpeakReporter":
            other.runs += "," + run  # a run around the one that is reported for already
            return
    directories = [d for d in os.environ.get("NVPEAK_REPORT", "").split(os.pathsep) if d]
    by_line = None
    if os.environ.get("NVPEAK_LINES"):
        from nvpeak_lines import NvpeakLines as by_line

        sys.modules.pop("nvpeak_lines", None)
    if directories and sys.version_info >= (3, 7):
        sys.meta_path.insert(0, NvpeakReporter(directories, run, by_line))


try:
    install()
except Exception:
    pass

# The program's own sitecustomize, if it has one: as if this file were not there.
sys.path[:] = [p for p in sys.path if p != here]
sys.modules.pop("sitecustomize", None)
import sitecustomize  # noqa
