//go:build linux && (amd64 || arm64)

package uprobe

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/request"
	"nvpeak/sampler/uprobe/cudatest"
)

// Who ends in the middle of a call, or without a word, is forgotten; the others go on.
func TestEndings(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		r := newRig(t, 1, o)
		stays := cudatest.Play(t, r.dir)
		stays.Do("device 0", "alloc a 1000")
		for _, how := range []string{"die", "exit 3"} {
			p := cudatest.Play(t, r.dir)
			p.Do("device 0", "alloc a 2000")
			p.End(how)
		}
		hung := cudatest.Play(t, r.dir, "FAKECUDA_SLOW=60")
		fmt.Fprintln(hung.In(), "device 0\nalloc a 3000") //nolint:errcheck // it does not answer
		time.Sleep(200 * time.Millisecond)
		hung.Kill()
		stays.Do("alloc b 4000")
		r.settled(4)
		if n := r.door.asking(hung.PID()); len(n) > 0 {
			t.Errorf("it is kept that who has ended asks: %v", n)
		}
		if got := strings.Join(said(r.seen), ", "); got != "cuMemAlloc_v2 1000 0 0, cuMemAlloc_v2 2000 0 0, cuMemAlloc_v2 2000 0 0, cuMemAlloc_v2 4000 0 0" {
			t.Error(got)
		}
		if n := len(r.snapshot().GPUs[0].Processes); n != 1 {
			t.Errorf("%d processes", n)
		}
	})
}

// For how much a process asks is known, until it is told.
func TestAsking(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		r := newRig(t, 1, o)
		other := cudatest.Play(t, r.dir)
		other.Do("device 0", "alloc a 1000")
		hung := cudatest.Play(t, r.dir, "FAKECUDA_SLOW=60")
		fmt.Fprintln(hung.In(), "device 0\nalloc a 3000") //nolint:errcheck // it does not answer
		var n []request.UnderWay
		for range 200 {
			if n = r.door.asking(hung.PID()); len(n) > 0 {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		others, again := r.door.asking(other.PID()), r.door.asking(hung.PID())
		if len(n) != 1 || n[0].Size != 3000 || request.Functions[n[0].Function].Name != "cuMemAlloc_v2" || len(others) > 0 || len(again) > 0 {
			t.Errorf("%v, the other one %v, and then %v", n, others, again)
		}
		hung.Kill()
	})
}

// A signal handler asks for memory in the middle of a call, or leaves it by a jump.
func TestInterrupted(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		r := newRig(t, 1, o)
		p := cudatest.Play(t, r.dir, "FAKECUDA_SLOW=1")
		want := asked(p.Do("device 0", "signal a 1000", "alloc b 2000", "jump 3000", "alloc c 4000"))
		r.settled(3)
		if got := said(r.seen); strings.Join(got, "\n") != strings.Join(want, "\n") || len(want) != 3 {
			t.Errorf("seen:\n%s\nsaid:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// How a process ends is seen, by whichever thread.
func TestExitStatus(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		r := newRig(t, 1, o)
		for how, want := range map[string]sampler.Opt[int]{"exit 0": sampler.Some(0), "exit 3": sampler.Some(3), "exit 200": sampler.Some(200),
			"die": sampler.Some(137), "thread exit 5": sampler.Some(5), "granted": sampler.Some(3)} {
			p := cudatest.Play(t, r.dir)
			p.Do("device 0", "alloc a 2000")
			word := how
			switch how {
			case "granted":
				word = "exit 3"
			case "thread exit 5":
				p.Do("alloc b 90000000000", "thread") // which reads on
				word = "exit 5"
			default:
				p.Do("alloc b 90000000000")
			}
			p.End(word)
			var got *sampler.Requests
			for range 100 {
				for _, q := range r.snapshot().GPUs[0].Processes {
					if q.PID == p.PID() {
						got = q.Requests
					}
				}
				if got != nil && got.ExitStatus.Known() {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			if got == nil || !got.ExitStatus.Equal(want) {
				t.Errorf("%s: %+v, not %v", how, got, want)
			}
		}
	})
}
