package sampler

import "time"

// A GPU is quiet when no process is listed and nothing has moved for quietAfter. Memory of
// quietMost or more that nobody is listed for is of a process that the driver hides (another
// container), and that one may move at any time. Drivers before R510 count up to 0.6 GiB of
// their own as used.
const (
	quietAfter = 10 * time.Second
	quietMost  = GiB
)

// seeQuiet tells the limiter which GPUs are quiet.
func (c *collector) seeQuiet(r *rateLimiter, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range r.gpus {
		r.gpus[i].quiet = c.gpus[i].quiet(now)
	}
}

// quiet is asked at least once a second with the time that no one sets.
func (d *device) quiet(now time.Time) bool {
	used, known := d.mem.Used.Value()
	if d.moved || d.stillSince.IsZero() || !known || used >= quietMost || !d.procsOK || len(d.procs) > 0 {
		d.moved, d.stillSince = false, now
	}
	return now.Sub(d.stillSince) >= quietAfter
}
