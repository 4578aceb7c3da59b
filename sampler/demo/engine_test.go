package demo

import "testing"

// TestPowerIsQuickAndHeatIsSlow: power drops with the load of a validation within a
// second or two, temperature takes its time and still arrives.
func TestPowerIsQuickAndHeatIsSlow(t *testing.T) {
	s, h := play(t, "training")
	var watts, load [2]float64 // sums in training, in validation
	var count [2]float64
	coldest, hottest, before := 200, 0, -1
	for now := 0.0; now < 460; now++ {
		h.at(now)
		m, err := s.Metrics(0)
		if err != nil {
			t.Fatal(err)
		}
		degrees := m.Temperature.Or(0)
		if before >= 0 && (degrees > before+3 || degrees < before-3) {
			t.Errorf("at %.0f s from %d to %d °C within a second", now, before, degrees)
		}
		before, coldest, hottest = degrees, min(coldest, degrees), max(hottest, degrees)
		var where int
		switch at, _ := s.devices[0].actors[0].job.life.at(now); phase(at.T) {
		case "training":
			where = 0
		case "validation":
			where = 1
		default:
			continue
		}
		watts[where] += m.Power.Or(0)
		load[where] += float64(m.Utilization.GPU.Or(0))
		count[where]++
	}
	if count[0] < 200 || count[1] < 40 {
		t.Fatalf("%v seconds of training and validation", count)
	}
	for i := range count {
		watts[i] /= count[i]
		load[i] /= count[i]
	}
	if load[0] < 93 || load[1] > 75 || watts[0] < 250 || watts[1] > 0.8*watts[0] || watts[1] < 0.4*watts[0] {
		t.Errorf("training %.0f W at %.0f %%, validation %.0f W at %.0f %%", watts[0], load[0], watts[1], load[1])
	}
	if hottest-coldest < 8 {
		t.Errorf("between %d and %d °C", coldest, hottest)
	}
}

// phase of the training scenario, without the seconds in which one goes over to the other.
func phase(age float64) string {
	const epoch = epochTrain + epochValidate + epochSave
	for age >= epoch {
		age -= epoch
	}
	switch {
	case age > 4 && age < epochTrain:
		return "training"
	case age > epochTrain+2 && age < epochTrain+epochValidate:
		return "validation"
	}
	return ""
}

// TestUnusedCardsRest: without a program the clocks are down and power is that of the
// data sheet's idle; the link of a workstation GPU slows down.
func TestUnusedCardsRest(t *testing.T) {
	s, h := play(t, "oom")
	h.at(10)
	m, err := s.Metrics(1)
	if err != nil {
		t.Fatal(err)
	}
	mo := s.devices[1].model
	if m.Utilization.GPU.Or(-1) != 0 || m.PerformanceState.Or("") != "P8" || m.PCIe.Generation.Or(0) != 1 ||
		m.Clocks.SM.Or(0) != mo.smMHz[0] || m.Power.Or(0) > 1.1*mo.idleWatts || len(m.Throttle) != 0 {
		t.Errorf("an unused GPU: %+v", m)
	}
	if m, _ = s.Metrics(0); m.PerformanceState.Or("") != "P2" || m.PCIe.Generation.Or(0) != 4 {
		t.Errorf("the used one: %+v", m)
	}
}
