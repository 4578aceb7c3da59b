package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"nvpeak/sampler"
	"nvpeak/sampler/nvml"
	"nvpeak/sampler/proc"
)

// States of a check.
const (
	stateOK          = "ok"
	statePartial     = "partial"
	stateUnavailable = "unavailable"
)

// finding is the result of one check.
type finding struct {
	Name  string `json:"name"`
	State string `json:"state"` // ok, partial, unavailable
	Why   string `json:"why"`
	Fix   string `json:"fix"` // the command that mends it; empty: nothing to mend, or nothing can
}

func ok(format string, args ...any) finding {
	return finding{State: stateOK, Why: fmt.Sprintf(format, args...)}
}

func partial(fix, format string, args ...any) finding {
	return finding{State: statePartial, Why: fmt.Sprintf(format, args...), Fix: fix}
}

func unavailable(fix, format string, args ...any) finding {
	return finding{State: stateUnavailable, Why: fmt.Sprintf(format, args...), Fix: fix}
}

// callTime is how long one kind of driver call takes.
type callTime struct {
	Call   string  `json:"call"`
	GPU    string  `json:"gpu"`
	Count  int     `json:"count"`
	Median float64 `json:"median_s"`
	P99    float64 `json:"p99_s"`
	Error  string  `json:"error"`
}

// laneRate is what the fast lane really does.
type laneRate struct {
	GPU        string  `json:"gpu"`
	Rate       float64 `json:"readings_per_second"`
	Missed     int     `json:"missed"`
	Resolution float64 `json:"resolution_s"` // an excursion that lasts that long is seen
	Duty       float64 `json:"duty_percent"`
}

// checkup is everything that the checks look at. It is gathered first, with limits of
// time; the checks only judge.
type checkup struct {
	app       *app
	root      string // "" is the root of the file system
	openError error
	inventory sampler.Inventory
	diagnosis nvml.Diagnosis
	processes [][]sampler.Process // per device
	procError []error
	memError  []error
	xidError  error
	host      sampler.Opt[sampler.HostMemory]
	calls     []callTime
	lane      []laneRate
	laneError error
}

const (
	// callPatience is how long one driver call may hang.
	callPatience = 5 * time.Second
	// measureFor bounds the measuring of latencies, all calls together.
	measureFor = 2 * time.Second
	// laneFor is how long the fast lane is watched.
	laneFor = 2 * time.Second
)

func doctorCommand(a *app) *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "doctor",
		Short: "every source: ok, partial or unavailable, why, and the command that mends it",
		Long: "doctor looks at everything nvpeak measures with and says of each whether it works, why not, and\n" +
			"the one command that mends it. It also measures how long the driver's calls take and how fast the\n" +
			"memory is really read. Exit 0: at least one GPU can be measured; 1: none.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context(), asJSON) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

func (a *app) doctor(ctx context.Context, asJSON bool) error {
	c := &checkup{app: a}
	c.gather(ctx)
	if err := context.Cause(ctx); err != nil {
		return err
	}
	findings := c.judge()
	out := bufio.NewWriter(a.out)
	var err error
	if asJSON {
		err = c.json(out, findings)
	} else {
		err = c.text(out, findings)
	}
	if err = errors.Join(err, out.Flush()); err != nil {
		return err
	}
	if c.measurable() == 0 {
		if c.openError != nil {
			return c.openError
		}
		return errors.New("no GPU gives its memory")
	}
	return nil
}

// judge runs the checks, in their order.
func (c *checkup) judge() []finding {
	list := make([]finding, 0, len(checks))
	for _, row := range checks {
		f := row.probe(c)
		f.Name = row.name
		f.Why, f.Fix = sampler.Clean(f.Why), sampler.Clean(f.Fix)
		list = append(list, f)
	}
	return list
}

// measurable counts the GPUs whose memory can be read.
func (c *checkup) measurable() (n int) {
	for _, err := range c.memError {
		if err == nil {
			n++
		}
	}
	return n
}

// gather asks the driver, never longer than it may take.
func (c *checkup) gather(ctx context.Context) {
	c.host = proc.New(proc.Options{}).Memory()
	src := nvml.New(nvml.Options{Library: string(c.app.opt.library)})
	limit, cancel := context.WithTimeout(ctx, callPatience)
	defer cancel()
	if c.inventory, c.openError = src.Open(limit); c.openError != nil {
		return
	}
	c.diagnosis, c.openError = src.Diagnose(callPatience)
	if c.openError == nil {
		c.ask(src)
		c.measure(src)
	}
	src.Close()
	if c.measurable() > 0 && ctx.Err() == nil {
		c.watchLane(ctx)
	}
}

// ask makes each kind of call once for each device.
func (c *checkup) ask(src *nvml.Source) {
	host := proc.New(proc.Options{})
	for dev := range c.inventory.Devices {
		_, _, err := timed(func() error { _, err := src.Memory(dev); return err })
		c.memError = append(c.memError, err)
		var list []sampler.Process
		_, done, err := timed(func() error {
			l, err := src.Processes(dev)
			list = l
			return err
		})
		if !done {
			list = nil // it may still be written
		} else {
			host.Identify(list)
		}
		c.processes, c.procError = append(c.processes, list), append(c.procError, err)
	}
	_, done, err := timed(func() error { _, _, err := src.WaitXID(time.Millisecond); return err })
	if c.xidError = err; !done {
		c.xidError = sampler.ErrNotAnswering
	}
}

// timed makes one call and gives up on it after callPatience. done is false when it still hangs.
func timed(call func() error) (took time.Duration, done bool, err error) {
	result := make(chan error, 1)
	begin := time.Now()
	go func() { result <- call() }()
	select {
	case err := <-result:
		return time.Since(begin), true, err
	case <-time.After(callPatience):
		return callPatience, false, fmt.Errorf("%w within %v", sampler.ErrNotAnswering, callPatience)
	}
}

// callKinds are the driver calls that are timed. least and most are how often each is made
// on a GPU; PCIe traffic takes the driver 40 ms each time.
var callKinds = []struct {
	name string
	most int
	call func(*nvml.Source, int) error
}{
	{"memory", 300, func(s *nvml.Source, dev int) error { _, err := s.Memory(dev); return err }},
	{"processes", 50, func(s *nvml.Source, dev int) error { _, err := s.Processes(dev); return err }},
	{"metrics", 20, func(s *nvml.Source, dev int) error { _, err := s.Metrics(dev); return err }},
	{"pcie traffic", 3, func(s *nvml.Source, dev int) error { _, _, err := s.Throughput(dev); return err }},
}

// measure times the calls of every GPU, within measureFor in all.
func (c *checkup) measure(src *nvml.Source) {
	devices := 0
	for _, err := range c.memError {
		if err == nil {
			devices++
		}
	}
	if devices == 0 {
		return
	}
	share := measureFor / time.Duration(devices*len(callKinds))
	for dev, d := range c.inventory.Devices {
		if c.memError[dev] != nil {
			continue
		}
		label := (&sampler.GPU{Index: d.Index, MIG: d.MIG}).Label()
		for _, kind := range callKinds {
			c.calls = append(c.calls, timeCalls(kind.name, label, kind.most, share, func() error { return kind.call(src, dev) }))
		}
	}
}

func timeCalls(name, gpu string, most int, limit time.Duration, call func() error) callTime {
	t := callTime{Call: name, GPU: gpu}
	var all []time.Duration
	for begin := time.Now(); len(all) < most && (len(all) == 0 || time.Since(begin) < limit); {
		took, done, err := timed(call)
		if err != nil {
			t.Error = sampler.Clean(err.Error())
			if !done || len(all) == 0 {
				break
			}
		}
		all = append(all, took)
	}
	t.Count = len(all)
	t.Median, t.P99 = quantile(all, 0.5).Seconds(), quantile(all, 0.99).Seconds()
	return t
}

// watchLane runs the real loop for a while and counts its readings.
func (c *checkup) watchLane(ctx context.Context) {
	a := *c.app
	a.opt.interval, a.opt.demo = 500*time.Millisecond, ""
	l, err := a.source()
	if err != nil {
		c.laneError = err
		return
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer func() { cancel(nil); l.Wait(closePatience) }()
	if c.laneError = l.start(ctx, callPatience); c.laneError != nil {
		return
	}
	limit, stop := context.WithTimeout(ctx, laneFor+time.Second)
	defer stop()
	var snaps []*sampler.Snapshot
	for len(snaps) < 1+int(laneFor/a.opt.interval) {
		more, err := l.Next(limit)
		if err != nil {
			break
		}
		snaps = append(snaps, more...)
	}
	c.lane = rates(snaps)
}

// rates says how often each GPU was read between the first snapshot and the last.
func rates(snaps []*sampler.Snapshot) []laneRate {
	if len(snaps) < 2 {
		return nil
	}
	last := snaps[len(snaps)-1]
	seconds := last.Time.Sub(snaps[0].Time).Seconds()
	var list []laneRate
	for i := range last.GPUs {
		key := last.GPUs[i].Key()
		r := laneRate{GPU: last.GPUs[i].Label()}
		readings := 0
		for _, s := range snaps[1:] {
			for j := range s.GPUs {
				if w := s.GPUs[j].Memory.Window; w != nil && s.GPUs[j].Key() == key {
					readings, r.Missed = readings+w.Readings, r.Missed+w.Missed
				}
			}
		}
		if readings == 0 || seconds <= 0 {
			continue
		}
		r.Rate = float64(readings) / seconds
		r.Resolution = 1 / r.Rate
		if lane, known := last.Sampling.Value(); known {
			r.Resolution, r.Duty = max(lane.PeriodSeconds, 1/r.Rate), lane.DutyPercent
		}
		list = append(list, r)
	}
	return list
}

// file reads a file of the system, at most 1 MiB; empty when it cannot be read.
func (c *checkup) file(name string) string {
	f, err := os.Open(c.root + name)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, 1<<20))
	return string(b)
}

func (c *checkup) exists(name string) bool {
	_, err := os.Stat(c.root + name)
	return err == nil
}
