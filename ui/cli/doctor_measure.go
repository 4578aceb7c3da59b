package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/demo"
	"nvpeak/sampler/nvml"
	"nvpeak/sampler/proc"
	"nvpeak/ui/crash"
)

const (
	// callTimeout is how long one driver call may hang.
	callTimeout = 5 * time.Second
	// measureFor bounds the measuring of latencies, all calls together.
	measureFor = 2 * time.Second
	// samplingFor is how long the memory sampling is watched.
	samplingFor = 2 * time.Second
)

// errHangs is what is known of a call that is given up.
var errHangs = fmt.Errorf("%w within %v", sampler.ErrNotAnswering, callTimeout)

// gather asks the driver, never longer than it may take.
func (c *checkup) gather(ctx context.Context) {
	c.host = proc.New(proc.Options{}).Memory()
	defer func() { c.door = tryDoor(c.processes) }()
	var src sampler.Source
	identify := proc.New(proc.Options{}).Identify
	diagnose := c.demoDiagnosis
	if name := string(c.app.opt.demo); name != "" {
		scripted, err := demo.New(name, sampler.NewScriptClock(time.Now()))
		if c.openError = err; err != nil {
			return
		}
		src, identify = scripted, scripted.Host().Identify
	} else {
		var cancel context.CancelFunc
		ctx, cancel = crash.Survive(ctx)
		defer cancel()
		defer func() { c.openError = cmp.Or(context.Cause(ctx), c.openError) }() // whatever was measured before
		driver := nvml.New(nvml.Options{Library: string(c.app.opt.library)})
		src, diagnose = driver, func() (nvml.Diagnosis, error) { return driver.Diagnose(callTimeout) }
	}
	limit, cancel := context.WithTimeoutCause(ctx, callTimeout, errHangs)
	defer cancel()
	answered := c.app.sayWaiting()
	c.inventory, c.openError = src.Open(limit)
	if answered(); c.openError != nil {
		return
	}
	c.diagnosis, c.openError = diagnose()
	if c.openError == nil {
		c.ask(ctx, src, identify)
		c.measure(ctx, src)
	}
	src.Close()
	if c.measurable() > 0 && ctx.Err() == nil {
		c.watchSampling(ctx)
	}
}

// demoDiagnosis is what there is to say of scripted GPUs: no library, no calls that an older one lacks.
func (c *checkup) demoDiagnosis() (nvml.Diagnosis, error) {
	d := nvml.Diagnosis{Library: c.say("doctor.demo", "name", string(c.app.opt.demo)), Samples: true}
	d.Devices = make([]nvml.DeviceDiagnosis, len(c.inventory.Devices))
	return d, nil
}

// ask makes each kind of call once for each device.
func (c *checkup) ask(ctx context.Context, src sampler.Source, identify func([]sampler.Process)) {
	for dev := range c.inventory.Devices {
		_, _, err := timed(ctx, func() error { _, err := src.Memory(dev); return err })
		c.memError = append(c.memError, err)
		var list []sampler.Process
		_, done, err := timed(ctx, func() error {
			l, err := src.Processes(dev)
			list = l
			return err
		})
		if !done {
			list = nil // it may still be written
		} else {
			identify(list)
		}
		c.processes, c.procError = append(c.processes, list), append(c.procError, err)
	}
	_, done, err := timed(ctx, func() error { _, _, err := src.WaitXID(time.Millisecond); return err })
	if c.xidError = err; !done {
		c.xidError = sampler.ErrNotAnswering
	}
}

// timed makes one call and gives up on it after callTimeout, or when the context ends. done is false when it still hangs.
func timed(ctx context.Context, call func() error) (took time.Duration, done bool, err error) {
	if ctx.Err() != nil {
		return 0, false, context.Cause(ctx)
	}
	result := make(chan error, 1)
	begin := time.Now()
	go func() { result <- call() }()
	select {
	case err := <-result:
		return time.Since(begin), true, err
	case <-ctx.Done():
		return time.Since(begin), false, context.Cause(ctx)
	case <-time.After(callTimeout):
		return callTimeout, false, errHangs
	}
}

// What the calls for all figures but memory and processes are called.
const (
	callMetrics = "metrics"
	callTraffic = "pcie traffic"
)

// callKinds are the driver calls that are timed. least and most are how often each is made
// on a GPU; PCIe traffic takes the driver 40 ms each time.
var callKinds = []struct {
	name string
	most int
	call func(sampler.Source, int) error
}{
	{"memory", 300, func(s sampler.Source, dev int) error { _, err := s.Memory(dev); return err }},
	{"processes", 50, func(s sampler.Source, dev int) error { _, err := s.Processes(dev); return err }},
	{callMetrics, 20, func(s sampler.Source, dev int) error { _, err := s.Metrics(dev); return err }},
	{callTraffic, 3, func(s sampler.Source, dev int) error { _, _, err := s.Throughput(dev); return err }},
}

// measure times the calls of every GPU, within measureFor in all.
func (c *checkup) measure(ctx context.Context, src sampler.Source) {
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
		for _, kind := range callKinds {
			c.calls = append(c.calls, timeCalls(ctx, kind.name, d.Label(), kind.most, share, func() error { return kind.call(src, dev) }))
		}
	}
}

func timeCalls(ctx context.Context, name, gpu string, most int, limit time.Duration, call func() error) callTime {
	t := callTime{Call: name, GPU: gpu}
	var all []time.Duration
	for begin := time.Now(); len(all) < most && (len(all) == 0 || time.Since(begin) < limit); {
		took, done, err := timed(ctx, call)
		if err != nil {
			t.Error, t.failure = sampler.Clean(err.Error()), err
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

// watchSampling runs the real loop for a while and counts its readings.
func (c *checkup) watchSampling(ctx context.Context) {
	a := *c.app
	a.opt.interval = 500 * time.Millisecond
	l, err := a.source(sampler.Options{})
	if err != nil {
		c.rateError = err
		return
	}
	l.simulate = l.skipPast
	ctx, cancel := context.WithCancelCause(ctx)
	defer func() { cancel(nil); l.Wait(closeTimeout) }()
	if c.rateError = l.start(ctx, callTimeout); c.rateError != nil {
		return
	}
	limit, stop := context.WithTimeout(ctx, samplingFor+time.Second)
	defer stop()
	var snaps []*sampler.Snapshot
	for len(snaps) < 1+int(samplingFor/a.opt.interval) {
		more, err := l.Next(limit)
		if err != nil {
			break
		}
		snaps = append(snaps, more...)
	}
	c.sampling = rates(snaps)
}

// rates says how often each GPU was read between the first snapshot and the last.
func rates(snaps []*sampler.Snapshot) []samplingRate {
	if len(snaps) < 2 {
		return nil
	}
	last := snaps[len(snaps)-1]
	seconds := last.Time.Sub(snaps[0].Time).Seconds()
	var list []samplingRate
	for i := range last.GPUs {
		key := last.GPUs[i].Key()
		r := samplingRate{GPU: last.GPUs[i].Label()}
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
		if s, known := last.Sampling.Value(); known {
			r.Resolution, r.Duty, r.Period = max(s.PeriodSeconds, 1/r.Rate), s.DutyPercent, s.PeriodSeconds
		}
		list = append(list, r)
	}
	return list
}

// quantile of a list of durations; 0 for none.
func quantile(list []time.Duration, q float64) time.Duration {
	if len(list) == 0 {
		return 0
	}
	list = slices.Sorted(slices.Values(list))
	return list[min(len(list)-1, int(q*float64(len(list))))]
}
