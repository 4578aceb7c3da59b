package cli

import (
	"io"
	"os"

	"nvpeak/sampler"
	"nvpeak/sampler/nvml"
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
	Fix   string `json:"fix"` // the command that fixes it; empty: nothing to fix, or nothing can
}

func ok(why string) finding { return finding{State: stateOK, Why: why} }

func partial(fix, why string) finding { return finding{State: statePartial, Why: why, Fix: fix} }

func unavailable(fix, why string) finding {
	return finding{State: stateUnavailable, Why: why, Fix: fix}
}

// say is a sentence in the language that was chosen.
func (c *checkup) say(id string, pairs ...any) string { return c.app.words().Say(id, pairs...) }

// unknown is the result of a check that needs the driver where there is none.
func (c *checkup) unknown() finding { return unavailable("", c.say("doctor.no_driver")) }

// callTime is how long one kind of driver call takes.
type callTime struct {
	Call   string  `json:"call"`
	GPU    string  `json:"gpu"`
	Count  int     `json:"count"`
	Median float64 `json:"median_s"`
	P99    float64 `json:"p99_s"`
	Error  string  `json:"error"`

	failure error // what Error tells
}

// samplingRate is how fast the memory of a GPU is really read.
type samplingRate struct {
	GPU        string  `json:"gpu"`
	Rate       float64 `json:"readings_per_second"`
	Missed     int     `json:"missed"`
	Resolution float64 `json:"resolution_s"` // longer spikes are detected
	Duty       float64 `json:"duty_percent"`
	Period     float64 `json:"-"` // at which memory that moves is read
}

// checkup is everything that the checks look at. It is gathered first, with limits of
// time; the checks only judge.
type checkup struct {
	app        *app
	root       string // "" is the root of the file system
	openError  error
	inventory  sampler.Inventory
	diagnosis  nvml.Diagnosis
	processes  [][]sampler.Process // per device
	procError  []error
	memError   []error
	xidError   error
	host       sampler.Opt[sampler.HostMemory]
	calls      []callTime
	sampling   []samplingRate
	rateError  error
	door       doorState
	deliveries []sampler.Delivery // of alerts, by whatever nvpeak this user ran
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
