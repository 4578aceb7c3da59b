package nvml

import (
	"fmt"
	"strings"
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"nvpeak/sampler"
)

// shapeEvery is how often it is asked whether the machine has the GPUs and MIG instances that were listed when it was
// opened: an administrator makes and deletes instances without a word to programs that run.
const shapeEvery = 5 * time.Second

// shapeState is how a GPU was split.
type shapeState struct {
	was   string
	next  time.Time
	other bool // it was another when asked last; a driver may be at work on it
}

// shapeOf tells the instances of a GPU from others.
func shapeOf(parts []part, split bool) string {
	var b strings.Builder
	fmt.Fprint(&b, split)
	for _, p := range parts {
		uuid, _ := p.GetUUID()
		fmt.Fprint(&b, " ", p.index, uuid)
	}
	return b.String()
}

// reshaped is why the connection has to be opened anew, or nil: this GPU is split otherwise than it was, or there are
// other GPUs, as it was twice in a row.
func (c *conn) reshaped(d *device, now time.Time) error {
	if d.parent != nil || now.Before(d.shape.next) {
		return nil
	}
	first := d.shape.next.IsZero()
	if d.shape.next = now.Add(shapeEvery - slack); first {
		return nil // it was just listed
	}
	other := false
	if parts, split, known := d.parts(c.symbols); known {
		other = shapeOf(parts, split) != d.shape.was
	}
	if d.place == 0 { // one asks for all
		count, ret := c.lib.DeviceGetCount()
		other = other || ret == gonvml.SUCCESS && count != c.count
	}
	if other && d.shape.other {
		return fmt.Errorf("%w: the GPUs or their instances are others now", sampler.ErrReconnect)
	}
	d.shape.other = other
	return nil
}
