package nvml

import (
	"testing"
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"nvpeak/sampler"
)

// Instances that are made or deleted, and a GPU that is put into MIG mode, end the connection when that was seen twice.
func TestReshaped(t *testing.T) {
	const split = "gpu 0 mig\nmig 0 index=0 gi=1\nmig 0 index=2 gi=5\ngpu 1\n"
	for name, row := range map[string]struct {
		scenario string
		want     error
	}{
		"as it was":               {split, nil},
		"all are deleted":         {split + "fail nvmlDeviceGetMigDeviceHandleByIndex gpu=0 from=300ms code=NOT_FOUND\n", sampler.ErrReconnect},
		"they are made":           {split + "fail nvmlDeviceGetMigDeviceHandleByIndex gpu=0 to=300ms code=NOT_FOUND\n", sampler.ErrReconnect},
		"the driver will not say": {split + "fail nvmlDeviceGetMigDeviceHandleByIndex gpu=0 from=300ms code=UNKNOWN\n", nil},
		"nor its mode":            {split + "fail nvmlDeviceGetMigMode gpu=0 from=300ms code=UNKNOWN\n", nil},
		"the mode is off":         {split + "fail nvmlDeviceGetMigMode gpu=0 from=300ms code=NOT_SUPPORTED\n", sampler.ErrReconnect},
	} {
		t.Run(name, func(t *testing.T) {
			s, inside := playText(t, row.scenario)
			if !inside {
				return
			}
			c := useClock(s)
			inv := mustOpen(t, s)
			whole := len(inv.Devices) - 1 // GPU 1 is not concerned
			ask := func(dev int) error {
				_, err := s.Metrics(dev)
				return err
			}
			for _, dev := range []int{0, whole} {
				if err := ask(dev); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(400 * time.Millisecond)
			if err := ask(0); err != nil {
				t.Errorf("at once: %v", err)
			}
			c.add(shapeEvery)
			if err := ask(0); err != nil {
				t.Errorf("seen once: %v", err)
			}
			c.add(shapeEvery)
			wantErr(t, "seen twice", ask(0), row.want)
			if err := ask(whole); err != nil {
				t.Errorf("another GPU: %v", err)
			}
		})
	}
}

// counting is a driver that says how many GPUs there are.
type counting struct {
	gonvml.Interface
	count int
	ret   gonvml.Return
}

func (c counting) DeviceGetCount() (int, gonvml.Return) { return c.count, c.ret }

// The first device asks for all whether there are as many as there were.
func TestReshapedByCount(t *testing.T) {
	for name, row := range map[string]struct {
		driver counting
		place  int
		want   error
	}{
		"as many":       {counting{count: 2}, 0, nil},
		"one more":      {counting{count: 3}, 0, sampler.ErrReconnect},
		"one less":      {counting{count: 1}, 0, sampler.ErrReconnect},
		"not the first": {counting{count: 3}, 1, nil},
		"it fails":      {counting{ret: gonvml.ERROR_UNKNOWN}, 0, nil},
	} {
		c := &conn{lib: row.driver, count: 2}
		d := &device{place: row.place}
		d.shape.was = shapeOf(nil, false)
		var err error
		for i := range 3 {
			err = c.reshaped(d, began.Add(time.Duration(i)*shapeEvery))
			if i < 2 && err != nil {
				t.Errorf("%s: after %d checks %v", name, i, err)
			}
		}
		wantErr(t, name, err, row.want)
	}
}
