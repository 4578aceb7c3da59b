//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"nvpeak/sampler"
)

// watcher is `nvpeak stream`.
type watcher struct {
	cmd  *exec.Cmd
	lock sync.Mutex
	seen []sampler.Request
	last sampler.Snapshot
	of   map[int]sampler.Requests // the last of each process
	errs bytes.Buffer
	n    int
}

func watch(args ...string) *watcher {
	w := &watcher{cmd: command("/bin/nvpeak", append([]string{"stream"}, args...)...), of: map[int]sampler.Requests{}}
	w.cmd.Stderr = &w.errs
	out, _ := w.cmd.StdoutPipe() //nolint:errcheck // Start tells
	if err := w.cmd.Start(); err != nil {
		exit(err)
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<24)
	first := make(chan struct{})
	go func() {
		for lines.Scan() {
			var s sampler.Snapshot
			if json.Unmarshal(lines.Bytes(), &s) != nil {
				continue
			}
			w.lock.Lock()
			w.seen, w.last = append(w.seen, s.Requests...), s
			lists := [][]sampler.Process{s.Unplaced}
			for i := range s.GPUs {
				lists = append(lists, s.GPUs[i].Processes)
			}
			for _, p := range slices.Concat(lists...) {
				if p.Requests != nil {
					w.of[p.PID] = *p.Requests
				}
			}
			if w.n++; w.n == 1 {
				close(first)
			}
			w.lock.Unlock()
		}
		if w.n == 0 {
			close(first)
		}
	}()
	<-first
	return w
}

// until waits up to 20 s for something to be seen.
func (w *watcher) until(ok func() bool) bool {
	for range 200 {
		w.lock.Lock()
		yes := ok()
		w.lock.Unlock()
		if yes {
			return true
		}
		time.Sleep(100 * time.Millisecond)
	}
	return false
}

func (w *watcher) close() {
	w.cmd.Process.Signal(os.Interrupt) //nolint:errcheck // it may have ended
	w.cmd.Wait()                       //nolint:errcheck // however it ended
}
