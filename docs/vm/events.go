//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"nvpeak/sampler"
)

func say(list []sampler.Request, pid int) (lines []string) {
	for _, q := range list {
		if q.PID == pid {
			gpu := "?"
			if i, ok := q.GPU.Value(); ok {
				gpu = strconv.Itoa(i)
			}
			lines = append(lines, fmt.Sprintf("%s %d %d %s", q.Function, q.Bytes, q.Answer, gpu))
		}
	}
	return lines
}

// events compares what a program says of itself with what `stream` says of it, to the byte.
func events() bool {
	w := watch("--requests", "on", "--interval", "200ms")
	defer w.close()
	ok := true
	check := func(what string, yes bool, more ...any) {
		word := "ok"
		if !yes {
			word, ok = "WRONG", false
		}
		fmt.Println(append([]any{what + ":", word}, more...)...)
	}
	if w.n == 0 {
		w.cmd.Wait() //nolint:errcheck // standard error tells
		check("stream", false, w.errs.String())
		return false
	}
	p := play()
	var want []string
	for _, line := range p.do("device 0", "alloc a 1000000007", "alloc b 2000000000", "free a", "device 1", "torch c 3000000000", "async d 70000000", "freeasync d",
		"pooled e 64000000", "managed f 9000000000", "piece g 20971520", "piece h 20971520", "unpiece g", "pitch i 3600", "device 0", "alloc j 9000000001", "bfc k 7000000000") {
		if strings.HasPrefix(line, "cu") {
			want = append(want, line)
		}
	}
	w.until(func() bool { return len(say(w.seen, p.cmd.Process.Pid)) >= len(want) })
	got := say(w.seen, p.cmd.Process.Pid)
	check(fmt.Sprintf("%d of %d requests, with size, answer and GPU", len(got), len(want)), slices.Equal(got, want))
	if !slices.Equal(got, want) {
		fmt.Printf("seen:\n  %s\nsaid:\n  %s\n", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
	p.end("exit 0")

	p = play()
	p.do("device 1", "alloc a 4000000000", "alloc b 2000000000", "cache b", "torch c 3000000000")
	near := w.until(func() bool {
		r := w.of[p.cmd.Process.Pid]
		return r.Refusal != nil && r.Refusal.Outcome == sampler.RefusalFlush
	})
	r := w.of[p.cmd.Process.Pid]
	check("near miss", near && r.Refusal.Bytes == 3000000000 && r.Live == 7000000000 && r.Peak == 7000000000, fmt.Sprintf("%+v", r.Refusal))
	p.end("exit 0")

	p = play()
	p.do("device 0", "alloc a 6442450944", "alloc b 6442450945")
	p.end("exit 3")
	died := w.until(func() bool { return w.of[p.cmd.Process.Pid].ExitStatus.Known() })
	r = w.of[p.cmd.Process.Pid]
	check("death", died && r.ExitStatus.Or(-1) == 3 && r.Refusal != nil && r.Refusal.Bytes == 6442450945, fmt.Sprintf("%+v; %q", r.Refusal, say(w.seen, p.cmd.Process.Pid)))

	// A libcuda that nobody has had before, as in a new container.
	late := "/tmp/late/libcuda.so.1"
	if err := errors.Join(os.MkdirAll("/tmp/late", 0o755), copyTo(late, cuda)); err != nil {
		exit(err)
	}
	p = play()
	p.do("load "+late, "device 1")
	fresh := w.until(func() bool {
		p.do("alloc a 5000", "free a")
		return slices.Contains(say(w.seen, p.cmd.Process.Pid), "cuMemAlloc_v2 5000 0 1")
	})
	check("a libcuda that is new", fresh, len(say(w.seen, p.cmd.Process.Pid)))
	p.end("exit 0")

	// A command that is told why it died.
	cmd := command("/bin/nvpeak", "run", "--requests", "on")
	cmd.Args = append(cmd.Args, "--", "sh", "-c", "printf 'device 0\\nalloc a 6442450944\\nsleep 300\\nalloc b 6442450944\\nexit 1\\n' | /made/play /usr/lib/libcuda.so.1 >/dev/null")
	cmd.Env = append(cmd.Env, "FAKECUDA_SHARED="+shared, "FAKECUDA_CAPACITY=8589934592", "XDG_STATE_HOME=/tmp/state")
	out, _ := cmd.CombinedOutput() //nolint:errcheck // what it says counts
	named := strings.Contains(string(out), "refused by the driver") && strings.Contains(string(out), "6.00 GiB")
	check("run names the refusal", named)
	if !named {
		fmt.Println(string(out))
	}
	if d := w.last.Door; d != nil {
		fmt.Printf("lost %d, let go of %v\n", d.Lost, d.LetGo)
	}
	return ok
}
