"""A small terminal: what the screen shows after each chunk of output."""
import codecs, re, unicodedata

SEQ = re.compile(r"\x1b\[([<=>?]?)([0-9;:]*)([ -/]*)([@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[PX^_][^\x1b]*\x1b\\"
                 r"|\x1b([ -/]+[0-~])|\x1b([0-OQ-WYZ\\`-~])")
GRAPH = dict(zip("`afgjklmnopqrstuvwxyz{|}~", "◆▒°±┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·"))


class Screen:
    def __init__(self, cols=160, rows=50):
        self.w, self.h, self.rest = cols, rows, ""
        self.dec = codecs.getincrementaldecoder("utf-8")("replace")
        self.reset()

    def reset(self):
        self.cell = [[" "] * self.w for _ in range(self.h)]
        self.x = self.y = 0
        self.top, self.bottom, self.saved, self.last, self.g0, self.g1, self.so = 0, self.h - 1, (0, 0), " ", False, False, False

    def feed(self, data):
        s, i = self.rest + self.dec.decode(data), 0
        self.rest = ""
        while i < len(s):
            c = s[i]
            if c == "\x1b":
                m = SEQ.match(s, i)
                if m:
                    self.escape(m)
                    i = m.end()
                    continue
                if len(s) - i < 4096:
                    self.rest = s[i:]           # the rest comes with the next chunk
                    return
                i += 1
                continue
            i += 1
            if c == "\r":
                self.x = 0
            elif c in "\n\x0b\x0c":
                self.down()
            elif c == "\b":
                self.x = max(0, self.x - 1)
            elif c == "\t":
                self.x = min(self.w - 1, self.x // 8 * 8 + 8)
            elif c == "\x0e":
                self.so = True
            elif c == "\x0f":
                self.so = False
            elif c >= " " and c != "\x7f":
                self.put(c)

    def put(self, c):
        if (self.g1 if self.so else self.g0):
            c = GRAPH.get(c, c)
        if unicodedata.combining(c):
            return
        wide = 2 if unicodedata.east_asian_width(c) in "WF" else 1
        if self.x + wide > self.w:
            self.x = 0
            self.down()
        self.cell[self.y][self.x] = self.last = c
        if wide == 2:
            self.cell[self.y][self.x + 1] = ""
        self.x += wide                          # may be w: the wrap is pending

    def down(self):
        if self.y == self.bottom:
            self.scroll(1, self.top)
        elif self.y < self.h - 1:
            self.y += 1

    def scroll(self, n, top):
        for _ in range(min(abs(n), self.h)):
            if n > 0:
                del self.cell[top]
                self.cell.insert(self.bottom, [" "] * self.w)
            else:
                del self.cell[self.bottom]
                self.cell.insert(top, [" "] * self.w)

    def escape(self, m):
        pre, arg, mid, fin, charset, single = m.groups()
        if charset:
            if charset[0] == "(":
                self.g0 = charset[1] == "0"
            elif charset[0] == ")":
                self.g1 = charset[1] == "0"
            return
        if single:
            if single == "7":
                self.saved = self.x, self.y
            elif single == "8":
                self.x, self.y = self.saved
            elif single == "D":
                self.down()
            elif single == "E":
                self.x = 0
                self.down()
            elif single == "M":
                if self.y == self.top:
                    self.scroll(-1, self.top)
                else:
                    self.y = max(0, self.y - 1)
            elif single == "c":
                self.reset()
            return
        if not fin or mid:
            return
        a = [int(p.split(":")[0] or 0) if p else 0 for p in arg.split(";")] if arg else [0]
        n = max(1, a[0])
        if pre:
            if pre == "?" and fin in "hl" and any(p in (47, 1047, 1049) for p in a):
                self.cell = [[" "] * self.w for _ in range(self.h)]
            return
        x = min(self.x, self.w - 1)
        row = self.cell[self.y]
        if fin in "Hf":
            self.y, self.x = min(n, self.h) - 1, min(max(1, a[1] if len(a) > 1 else 1), self.w) - 1
        elif fin == "A":
            self.y = max(0, self.y - n)
        elif fin in "Be":
            self.y = min(self.h - 1, self.y + n)
        elif fin in "Ca":
            self.x = min(self.w - 1, x + n)
        elif fin == "D":
            self.x = max(0, x - n)
        elif fin == "E":
            self.y, self.x = min(self.h - 1, self.y + n), 0
        elif fin == "F":
            self.y, self.x = max(0, self.y - n), 0
        elif fin in "G`":
            self.x = min(n, self.w) - 1
        elif fin == "d":
            self.y = min(n, self.h) - 1
        elif fin == "J":
            for y in range(self.h):
                for xx in range(self.w):
                    before = (y, xx) < (self.y, x)
                    if a[0] >= 2 or (a[0] == 0 and not before) or (a[0] == 1 and (y, xx) <= (self.y, x)):
                        self.cell[y][xx] = " "
        elif fin == "K":
            lo, hi = {0: (x, self.w), 1: (0, x + 1)}.get(a[0], (0, self.w))
            row[lo:hi] = [" "] * (hi - lo)
        elif fin == "X":
            hi = min(self.w, x + n)
            row[x:hi] = [" "] * (hi - x)
        elif fin == "P":
            self.cell[self.y] = (row[:x] + row[x + n:] + [" "] * n)[:self.w]
        elif fin == "@":
            self.cell[self.y] = (row[:x] + [" "] * n + row[x:])[:self.w]
        elif fin in "LM" and self.top <= self.y <= self.bottom:
            for _ in range(min(n, self.h)):
                if fin == "L":
                    del self.cell[self.bottom]
                    self.cell.insert(self.y, [" "] * self.w)
                else:
                    del self.cell[self.y]
                    self.cell.insert(self.bottom, [" "] * self.w)
        elif fin == "S":
            self.scroll(n, self.top)
        elif fin == "T":
            self.scroll(-n, self.top)
        elif fin == "b":
            for _ in range(min(n, self.w * self.h)):
                self.put(self.last)
        elif fin == "r":
            self.top, self.bottom = n - 1, (a[1] if len(a) > 1 and a[1] else self.h) - 1
            self.bottom = min(self.bottom, self.h - 1)
            self.x = self.y = 0
        elif fin == "s":
            self.saved = self.x, self.y
        elif fin == "u":
            self.x, self.y = self.saved

    def text(self):
        return "\n".join("".join(r).rstrip() for r in self.cell)


def frames(base, cols=160, rows=50, together=0.0015):
    """Yields (seconds, screen) after each burst of output of base.tty and base.times."""
    raw = open(base + ".tty", "rb").read()
    at = [(int(a), float(b)) for a, b in (l.split() for l in open(base + ".times") if len(l.split()) == 2)]
    at = [p for i, p in enumerate(at) if i + 1 == len(at) or at[i + 1][0] > p[0]]   # the first line tells the start
    s = Screen(cols, rows)
    for i, (off, t) in enumerate(at):
        end = at[i + 1][0] if i + 1 < len(at) else len(raw)
        s.feed(raw[off:end])
        if i + 1 < len(at) and at[i + 1][1] - t < together:
            continue
        yield t, s
