package nvml

import (
	"testing"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/nvml/nvmltest"
)

func TestXID(t *testing.T) {
	s, inside := playText(t, "gpu 0\ngpu 1 mig\nmig 1 index=0 gi=3\ngpu 2 events=na\ngpu 3\n"+
		"xid 3 at=300ms code=31\nxid 3 at=320ms code=1 type=2\nxid 0 at=500ms code=119\n")
	if !inside {
		return
	}
	mustOpen(t, s)
	want := []struct {
		dev int
		xid uint64
	}{{4, 31}, {4, 48}, {0, 119}}
	for _, w := range want {
		dev, xid, err := s.WaitXID(5 * time.Second)
		if dev != w.dev || xid != w.xid || err != nil {
			t.Errorf("device %d, Xid %d, %v; want %d, %d", dev, xid, err, w.dev, w.xid)
		}
	}
	begin := time.Now()
	dev, _, err := s.WaitXID(400 * time.Millisecond)
	if d := time.Since(begin); dev != -1 || err != nil || d < 390*time.Millisecond || d > time.Second {
		t.Errorf("nothing more: device %d, %v after %v", dev, err, d)
	}
	go func() {
		time.Sleep(100 * time.Millisecond)
		s.Close()
	}()
	within(t, "a wait that Close ends", 2*time.Second, func() {
		_, _, err := s.WaitXID(time.Minute)
		wantErr(t, "closed", err, sampler.ErrReconnect)
	})
}

func TestXIDNotSupported(t *testing.T) {
	s, inside := playText(t, "gpu 0-1 events=na\n")
	if !inside {
		return
	}
	mustOpen(t, s)
	dev, _, err := s.WaitXID(time.Second)
	wantErr(t, "no events", err, sampler.ErrNotSupported)
	if dev != -1 {
		t.Errorf("device %d", dev)
	}
}

// A driver whose wait fails at once must not be asked in a circle.
func TestXIDFailureDoesNotSpin(t *testing.T) {
	s, inside := playText(t, "gpu 0\nfail nvmlEventSetWait* code=UNKNOWN\n", nvmltest.StatsTo(statsFile(t)))
	if !inside {
		return
	}
	mustOpen(t, s)
	begin := time.Now()
	_, _, err := s.WaitXID(300 * time.Millisecond)
	wantErr(t, "failure", err, sampler.ErrTransient)
	if d := time.Since(begin); d < 290*time.Millisecond {
		t.Errorf("came back after %v", d)
	}
	s.Close()
	if n := readStats(t).Calls["nvmlEventSetWait_v2"].Count; n != 1 {
		t.Errorf("%d calls", n)
	}
}

// A driver whose wait succeeds at once, always, must not be asked in a circle either, whether the
// event means something or not; a burst of events is told at once.
func TestXIDStormDoesNotSpin(t *testing.T) {
	for name, event := range map[string]string{"an Xid": "code=31", "both kinds": "code=31 type=10"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, inside := playText(t, "gpu 0\nxid 0 at=200ms "+event+" again\n", nvmltest.StatsTo(statsFile(t)))
			if !inside {
				return
			}
			mustOpen(t, s)
			begin := time.Now()
			seen, tenth := 0, time.Duration(0)
			for time.Since(begin) < 3*time.Second {
				if dev, _, err := s.WaitXID(3*time.Second - time.Since(begin)); err != nil {
					t.Fatal(err)
				} else if dev >= 0 {
					seen++
				}
				if seen == 10 && tenth == 0 {
					tenth = time.Since(begin)
				}
			}
			if name == "an Xid" && (seen < 10 || tenth > 700*time.Millisecond) {
				t.Errorf("%d events are seen, the tenth after %v", seen, tenth)
			}
			within(t, "closing in a rest", 200*time.Millisecond, func() {
				go func() {
					time.Sleep(50 * time.Millisecond)
					s.Close()
				}()
				for range 100 {
					if _, _, err := s.WaitXID(time.Minute); err != nil {
						wantErr(t, "closed", err, sampler.ErrReconnect)
						return
					}
				}
				t.Error("it goes on")
			})
			if n := readStats(t).Calls["nvmlEventSetWait_v2"].Count; n < 2 || n > 60 {
				t.Errorf("%d waits in 3 s", n)
			}
		})
	}
}
