# Sums up by source line what PyTorch's allocator holds, for `nvpeak run --lines`: sitecustomize.py reads this file
# only then. PATTERNS, which tell lines of the program from those of libraries, stand in front of it.
#
#   - PyTorch keeps the stack of what is alive, and no history of events;
#   - what is looked at is summed up here: some kilobytes leave the process, whatever it holds;
#   - looking may take one part in SHARE of the time. It happens in the reporter's thread, at the end of a step where
#     the program waits for it, but never long, and at a failure.
import os
import sys

SHARE = 100  # NVPEAK_LINES is the percentage
CREDIT = 0.1  # seconds of looking at first, for programs that do not live long
GAP = 0.1  # seconds between two looks, at least
TELL = 2.0  # between two messages
START = 1.0  # seconds that CUDA's initialization waits for recording to begin
STEP = 0.25  # that a step waits for a look
LIMIT = 0.5  # that summing up may take
LIMIT_REFUSED = 1.5  # the same at a failure
IDLE = 30.0  # after which the steps of another optimizer count
TOP = 20  # lines that are told
FOLLOWED = 400  # lines whose levels are kept
LEVELS = 32  # of each
FRAMES = 200  # of a stack
TOLD = 40  # of the stack of a refusal
KINDS = 20000  # frames whose kind is kept
OPTIMIZER, MODULE, GENERATION = 1, 2, 4
CLOSURE = 8  # of a frame only: not told


def whole(value):
    return value if type(value) is int and 0 <= value < 1 << 60 else 0


def number(variable):
    try:
        value = float(os.environ.get(variable, ""))
    except ValueError:
        return 1.0
    return value if 0 <= value < 1e6 else 1.0


class Sum(object):
    """What a GPU holds."""

    def __init__(self):
        self.segments = self.blocks = self.reserved = self.allocated = self.requested = self.awaiting = 0
        self.cached = self.split = self.largest = 0
        self.sites = {}  # bytes, blocks and the free bytes that they keep


class Levels(object):
    """What the lines of a GPU held at the ends of steps: in at most LEVELS stretches the least of each."""

    def __init__(self, by_steps):
        self.by_steps, self.steps, self.lines, self.last = by_steps, [], {}, {}
        self.each, self.looks = 1, 0  # of a stretch, and all
        self.floor = self.usual = None  # allocated at the end of the last step, and the most of a step above that
        self.first = self.newest = None  # step and floor; of the first step something stays, such as the optimizer's state

    def settle(self, step, now, peak):
        """Notes what is allocated at the end of a step, and was at most."""
        self.floor, self.usual = now, max(self.usual or 0, peak - now)
        self.newest = (step, now)
        if self.first is None and step > 1:
            self.first = self.newest

    def drift(self, step):
        """What was added since the newest look at the end of a step, going by the looks before; None: not known."""
        if self.newest is None or self.first is None:
            return None
        (a, low), (b, high) = self.first, self.newest
        if step - b <= 1:
            return 0
        return max(0, high - low) * (step - b) // (b - a) if b > a else None

    def add(self, step, sites):
        fresh = self.looks % self.each == 0
        self.looks += 1
        if fresh:
            self.steps.append(step)
        before, self.lines, self.last = self.lines, {}, {}
        # One that is gone held nothing: it never grew before.
        for site in sorted(sites, key=lambda s: -sites[s][0])[:FOLLOWED]:
            self.last[site] = held = sites[site][0]
            line = before.get(site) or [0] * (len(self.steps) - fresh)
            if fresh:
                line.append(held)
            else:
                line[-1] = min(line[-1], held)
            self.lines[site] = line
        if len(self.steps) == LEVELS and self.looks % self.each == 0:
            self.steps, self.each = self.steps[::2], 2 * self.each
            for site, line in self.lines.items():
                self.lines[site] = [min(pair) for pair in zip(line[::2], line[1::2])]


class NvpeakLines(object):
    def __init__(self, reporter):
        self.reporter, self.clock = reporter, reporter.clock
        self.queued = self.wanted = self.begun = self.on = self.looking = self.seen = False
        self.asked, self.told, self.stepped_at, self.due = None, 0.0, 0.0, 0.0
        self.steps, self.optimizer, self.lacks, self.why, self.version = 0, None, "", "", ""
        self.kinds, self.levels, self.sums, self.stacks = {}, {}, {}, {}
        self.began, self.directory = self.clock(), ""
        self.libraries, self.credit = (), CREDIT
        percent, ranks = number("NVPEAK_LINES"), number("WORLD_SIZE")
        self.share = SHARE / min(max(percent, 0.01), 100.0) * min(max(ranks, 1), 64)  # each rank keeps all others waiting

    def queue(self):
        """While torch is imported: CUDA's initialization is to say when it is done, before there is a tensor."""
        queue = vars(sys.modules.get("torch.cuda", sys)).get("_queued_calls")
        if type(queue) is list:
            self.queued = True
            queue.append((self.initialized, []))

    def mine(self):
        r = self.reporter
        return r.lines is self and not r.silent and not r.ending and r.pid == os.getpid()

    def initialized(self):
        """In the thread that initializes CUDA."""
        try:
            if self.mine() and not self.begun:
                self.wanted = True
                done = self.reporter.ask()
            else:
                return
        except Exception:
            return
        done.acquire(True, START)

    def serve(self, initialized):
        """In the reporter's thread, each time it wakes."""
        if not self.begun and (initialized or self.wanted):
            self.begun = True
            try:
                self.begin()
            except BaseException as error:
                self.lacks, self.why = self.lacks or "raised", self.reporter.reason(error)
        if self.on and initialized and not self.steps and self.clock() >= self.due:
            self.looking, self.asked, self.due = True, None, float("inf")

    def begin(self):
        import json
        import re

        torch, r = sys.modules["torch"], self.reporter
        self.json = json.dumps
        self.patterns = {name: re.compile(text) for name, text in PATTERNS.items()}  # noqa: F821, it stands in front
        self.version = str(getattr(torch, "__version__", ""))[:40]
        self.directory = os.getcwd()
        self.libraries = tuple(os.path.dirname(os.path.abspath(f)) + os.sep for f in (os.__file__, getattr(torch, "__file__", None) or os.__file__))
        if not r.history():
            self.record(getattr(r.cuda(), "memory", None))
        if self.lacks:
            return
        self.on = True
        self.attach(torch)

    def record(self, memory):
        """Has PyTorch keep the stack of what is alive: in the form of 2.1 and later, else in that of 2.0."""
        record = getattr(memory, "_record_memory_history", None)
        if record is None:
            self.lacks = "gone"
            return
        try:
            record("state", context="state", stacks="python", max_entries=1)
        except TypeError:
            record(True, record_context=True)
        enabled = getattr(getattr(sys.modules["torch"], "_C", None), "_cuda_isHistoryEnabled", None)
        if enabled is not None and enabled() is False:
            self.lacks = "off"

    def attach(self, torch):
        """Asks to be called after each step of an optimizer."""
        try:
            module = sys.modules.get("torch.optim.optimizer")
            register = getattr(module, "register_optimizer_step_post_hook", None)
            # Somebody may be calling those that are there, and they must not change then.
            if register is not None and (self.wanted or not getattr(module, "_global_optimizer_post_hooks", None)):
                compiling = getattr(getattr(torch, "compiler", None), "is_compiling", None)
                register(watcher(self.stepped, compiling or (lambda: False)))
        except BaseException:
            pass

    def stepped(self, optimizer):
        """In the program, at the end of a step."""
        try:
            if not self.on or not self.mine():
                return
            now = self.clock()
            if id(optimizer) != self.optimizer:
                if self.optimizer is not None and now - self.stepped_at < IDLE:
                    return
                self.optimizer = id(optimizer)
            self.steps, self.stepped_at = self.steps + 1, now
            if now < self.due:
                return
            self.due, self.asked, self.looking = float("inf"), now, True
            done = self.reporter.ask()
        except Exception:
            return
        done.acquire(True, STEP)

    def looked(self, began):
        """Ends a look, however it went."""
        self.looking = False
        now = self.clock()
        took = now - min(began, self.asked or began)
        free = min(self.credit, took)
        self.credit -= free
        self.due = now + max(GAP, self.share * (took - free))

    def refused(self, device):
        """In the program, at a failure: notes the stack of what was asked for."""
        self.stacks[device] = []
        frame = sys._getframe(1)
        stack = self.walk(frame)
        if not stack:  # a thread of the backward pass
            for frame in list(sys._current_frames().values()):
                if frame.f_code.co_name == "_engine_run_backward":
                    stack = self.walk(frame)
        self.stacks[device] = stack

    def walk(self, frame):
        stack = []
        while frame is not None and len(stack) < FRAMES:
            code = frame.f_code
            if not code.co_filename.endswith(("nvpeak_lines.py", "sitecustomize.py")):
                stack.append({"filename": code.co_filename, "line": frame.f_lineno, "name": code.co_name})
            frame = frame.f_back
        return stack

    def take(self, segments, readings, failures):
        """Sums up a snapshot; one that was taken at the end of a step becomes part of the course."""
        self.sums = {}
        try:
            self.sums = self.fold(segments, LIMIT_REFUSED if failures else LIMIT)
            self.seen, self.lacks, self.why = True, "", ""
        except BaseException as error:
            self.unseen(self.reporter.reason(error))
        for device, held in self.sums.items():
            levels = self.levels.get(device)
            if failures:
                continue
            if levels is None or levels.by_steps != (self.steps > 0):
                self.levels[device] = levels = Levels(self.steps > 0)
            levels.add(self.steps or int(self.clock() - self.began), held.sites)
            figures = readings.get(device, {})
            now, peak = figures.get("allocated"), figures.get("peak_allocated")
            if now is not None and peak is not None and self.steps:
                levels.settle(self.steps, now, peak)

    def unseen(self, why):
        """Notes why nothing can be told, unless something was."""
        if not self.seen:
            self.lacks, self.why = "unseen", why

    def fold(self, segments, limit):
        sums, memo, limit, n = {}, {}, self.clock() + limit, 0
        for segment in segments:
            if self.clock() > limit:
                raise RuntimeError("too many blocks to sum up in time")
            held = sums.setdefault(whole(segment.get("device")), Sum())
            held.segments += 1
            held.reserved += whole(segment.get("total_size"))
            here, free, used = {}, 0, 0
            for block in segment["blocks"]:
                n += 1
                if n % 512 == 0 and self.clock() > limit:
                    raise RuntimeError("too many blocks to sum up in time")
                size, state = whole(block.get("size")), block.get("state")
                held.blocks += 1
                if state == "inactive":
                    free, held.largest = free + size, max(held.largest, size)
                    continue
                used += 1
                if state != "active_allocated":
                    held.awaiting += size
                    continue
                site = self.site(block, memo)
                held.allocated += size
                held.requested += whole(block.get("requested_size")) or size
                one = here.setdefault(site, [0, 0])
                one[0] += size
                one[1] += 1
            if not used:
                held.cached += free
                continue
            held.split += free
            for site, (size, blocks) in here.items():
                one = held.sites.setdefault(site, [0, 0, 0])
                one[0], one[1], one[2] = one[0] + size, one[1] + blocks, one[2] + free * blocks // used
        return sums

    def site(self, block, memo):
        """The line worth naming of a block: file, line, function, what the stack says, and the validation it is of."""
        frames = block.get("frames")
        if not frames:  # 2.0
            frames = (block.get("history") or [{}])[0].get("frames")
        if type(frames) is not list:
            return ("", 0, "", 0, "")
        key = tuple(map(id, frames[:FRAMES]))
        site = memo.get(key)
        if site is None:
            memo[key] = site = self.named(frames[:FRAMES])
        return site

    def named(self, frames):
        first, python, flags, validation = None, None, 0, ""
        closure = False  # an optimizer's step that is further out has called what allocates
        for frame in frames:
            if type(frame) is not dict:
                continue
            file, name, line = frame.get("filename"), frame.get("name"), whole(frame.get("line"))
            if type(file) is not str or type(name) is not str:
                continue
            own, any_python, validates, more = self.kind(file[-400:], name[:120])
            closure = closure or bool(more & (CLOSURE | MODULE))
            by_optimizer = more & OPTIMIZER and not closure and (first is None or own)
            flags |= more & ~(OPTIMIZER | CLOSURE) | (OPTIMIZER if by_optimizer else 0)
            if own and first is None:
                first = (file[-400:], line, name[:120])
            if any_python and python is None:
                python = (file[-400:], line, name[:120])
            if validates and not validation:
                validation = "%s:%d %s" % (file[-400:].replace("\\", "/").rpartition("/")[2], line, name[:120])
        file, line, name = first or python or ("", 0, "")
        return (file, line, name, flags, validation)

    def kind(self, file, name):
        """Whether a frame is the program's own, Python, and of a validation, and what it says of the stack."""
        kind = self.kinds.get((file, name))
        if kind is None:
            p, path = self.patterns, file.replace("\\", "/")
            python = path.endswith(".py") or path.startswith("<") or "ipykernel" in path
            own = python and not p["library"].search(path) and not path.startswith(self.libraries)
            optimizer = python and (not own and p["optimizer"].search(path) or p["optimizer_own"].search(path))
            flags = (OPTIMIZER if optimizer else 0) | (MODULE if not own and "torch/nn/modules/" in path else 0)
            of = path + ":" + name
            flags |= GENERATION if python and (p["generation"].search(of) or p["cache"].search(of)) else 0
            flags |= CLOSURE if python and p["closure"].search(of) else 0
            kind = (own, python, own and bool(p["validation"].search(name)), flags)
            if len(self.kinds) >= KINDS:
                self.kinds.clear()
            self.kinds[(file, name)] = kind
        return kind

    def messages(self, refusals):
        """What is to be told: of failures at once, else now and then."""
        now = self.clock()
        if not refusals and now - self.told < TELL and not self.reporter.ending:
            return []
        sums, self.sums = self.sums, {}
        if sums:
            self.told = now
        return [self.message(device, held, refusals.get(device)) for device, held in sums.items() if not refusals or device in refusals]

    def message(self, device, held, oom):
        levels = self.levels.get(device) or Levels(False)
        told = {k: v for k, v in vars(held).items() if type(v) is int}
        told.update(steps=levels.steps, by_steps=levels.by_steps, taken=self.steps)
        if oom:
            told.update(oom=oom["n"], floor=levels.floor, usual=levels.usual, drift=levels.drift(self.steps))
            stack = self.stacks.get(device) or []
            told["stack"] = [self.told_site((f["filename"][-400:], f["line"], f["name"][:120], 0, "")) for f in stack[:TOLD]]
            told["site"] = self.told_site(self.named(stack))
        sites = held.sites
        gained = lambda s: levels.lines[s][-1] - levels.lines[s][0] if levels.lines.get(s) else 0
        chosen = []
        for rank in (lambda s: sites[s][0], gained, lambda s: sites[s][2]):
            for site in sorted(sites, key=rank, reverse=True)[:TOP]:
                if site not in chosen and len(chosen) < 2 * TOP:
                    chosen.append(site)
        told["list"] = []
        for site in chosen:
            size, blocks, pins = sites[site]
            line = dict(self.told_site(site), b=size, c=blocks, p=pins, s=levels.lines.get(site, []))
            if oom:
                line["r"] = max(0, size - levels.last.get(site, 0))
            told["list"].append(line)
        text = self.json({"v": 1, "device": device, "lines": told}, separators=(",", ":"))
        while len(text) > 60000 and told["list"]:
            told["list"] = told["list"][: len(told["list"]) // 2]
            text = self.json({"v": 1, "device": device, "lines": told}, separators=(",", ":"))
        return text

    def told_site(self, site):
        file, line, name, flags, validation = site
        if file and not file.startswith(("/", "<")):
            file = os.path.join(self.directory, file)
        return {"f": file, "l": line, "n": name, "k": flags, "v": validation}


def watcher(stepped, compiling):
    """What an optimizer calls. A compiler that looks into it finds nothing to do, and no global name."""

    def after_step(optimizer, args, kwargs):
        if compiling():
            return None
        return stepped(optimizer)

    return after_step
