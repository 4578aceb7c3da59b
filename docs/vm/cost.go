//go:build linux

package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// used is the CPU time of a process, of all its threads.
func used(pid int) (sum time.Duration) {
	list, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid)) //nolint:errcheck // the pattern is right
	for _, name := range list {
		b, _ := os.ReadFile(name) //nolint:errcheck // the thread has ended
		word, _, _ := strings.Cut(string(b), " ")
		ns, _ := strconv.ParseInt(word, 10, 64) //nolint:errcheck // it is then 0
		sum += time.Duration(ns)
	}
	return sum
}

// cost is what nvpeak takes and what programs pay, in turns with and without.
func cost() bool {
	const turns, seconds = 2, 5
	fmt.Println("calls a second | CPU of stream without requests, % | with | calls it made | lost")
	for _, calls := range []int{0, 100, 2000, 100000} {
		var shares [2][]float64
		asked, lost := 0, 0
		for range turns {
			for i, requests := range []string{"off", "on"} {
				w := watch("--requests", requests)
				p := play()
				p.do("device 0")
				time.Sleep(2 * time.Second) // until it is at rest
				before, began := used(w.cmd.Process.Pid), time.Now()
				if calls == 0 {
					time.Sleep(seconds * time.Second)
				}
				for n := 0; calls > 0 && n < seconds; n++ {
					for _, line := range p.do(fmt.Sprintf("rate 1000 %d", calls/2)) {
						n := 0
						fmt.Sscanf(line, "rate %d", &n) //nolint:errcheck // it is then 0
						asked += 2 * n
					}
				}
				shares[i] = append(shares[i], 100*float64(used(w.cmd.Process.Pid)-before)/float64(time.Since(began)))
				w.lock.Lock()
				if d := w.last.Door; d != nil {
					lost += d.Lost
				}
				w.lock.Unlock()
				p.end("exit 0")
				w.close()
			}
		}
		fmt.Printf("%d | %.2f | %.2f | %d | %d\n", calls, middle(shares[0]), middle(shares[1]), asked/turns/2/seconds, lost)
	}
	fmt.Println("a pair of calls, us: without | with | let go of")
	var pairs [3][]float64
	time1 := func(p *player, n int) float64 {
		ns := 0
		for _, line := range p.do(fmt.Sprintf("time 1000 %d", n)) {
			fmt.Sscanf(line, "time %d", &ns) //nolint:errcheck // it is then 0
		}
		return float64(ns) / 1000
	}
	for range turns {
		p := play()
		p.do("device 0")
		pairs[0] = append(pairs[0], time1(p, 1500))
		began := time.Now()
		w := watch("--requests", "on")
		opened := time.Since(began)
		p.end("exit 0")
		p = play()
		p.do("device 0")
		time.Sleep(time.Second)
		pairs[1] = append(pairs[1], time1(p, 1500))
		began = time.Now()
		for time.Since(began) < 5*time.Second {
			time1(p, 1500)
		}
		w.lock.Lock()
		letGo := w.last.Door != nil && len(w.last.Door.Busy) > 0
		w.lock.Unlock()
		if letGo { // a machine that is slow does not call so often
			pairs[2] = append(pairs[2], time1(p, 10000))
		}
		p.end("exit 0")
		began = time.Now()
		w.close()
		fmt.Printf("first snapshot after %d ms, ended after %d ms\n", opened.Milliseconds(), time.Since(began).Milliseconds())
	}
	fmt.Printf("%.1f | %.1f | %.1f\n", middle(pairs[0]), middle(pairs[1]), middle(pairs[2]))
	return true
}

func middle(list []float64) float64 {
	if len(list) == 0 {
		return math.NaN()
	}
	slices.Sort(list)
	return (list[(len(list)-1)/2] + list[len(list)/2]) / 2
}
