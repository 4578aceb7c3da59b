package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"nvpeak/advice/watch"
	"nvpeak/sampler"
	"nvpeak/sampler/fleet"
)

// What wait prints is what CUDA_VISIBLE_DEVICES takes.
func TestVisible(t *testing.T) {
	whole, other := watch.Fit{GPU: 2, UUID: "GPU-b"}, watch.Fit{GPU: 0}
	part := watch.Fit{GPU: 1, UUID: "MIG-1", MIG: true}
	for _, row := range []struct {
		gpus         []watch.Fit
		format, want string
	}{
		{[]watch.Fit{other, whole}, formatIndex, "0,2"},
		{[]watch.Fit{other, whole}, formatUUID, "0,GPU-b"},
		{[]watch.Fit{whole}, formatEnv, "CUDA_VISIBLE_DEVICES=2"},
		{[]watch.Fit{part, whole}, formatIndex, "MIG-1,GPU-b"},
		{[]watch.Fit{part}, formatEnv, "CUDA_VISIBLE_DEVICES=MIG-1"},
	} {
		if got := visible(row.gpus, row.format); got != row.want {
			t.Errorf("%s, want %s", got, row.want)
		}
	}
}

// Where a machine has GPUs of several models CUDA numbers them otherwise than nvidia-smi, but when told not to.
func TestPrintGPUs(t *testing.T) {
	two := []watch.Fit{{GPU: 0, UUID: "GPU-a"}, {GPU: 2, UUID: "GPU-b"}}
	part := []watch.Fit{{GPU: 1, UUID: "MIG-1", MIG: true}}
	for _, row := range []struct {
		gpus                []watch.Fit
		format, order, want string
		unlike              bool
		said                string
	}{
		{two, "", "", "0,2", false, ""},
		{two, "", "", "GPU-a,GPU-b", true, "UUIDs"},
		{two, "", "FASTEST_FIRST", "GPU-a,GPU-b", true, "UUIDs"},
		{two, "", "PCI_BUS_ID", "0,2", true, ""},
		{two, formatIndex, "", "0,2", true, "nvidia-smi"},
		{two, formatIndex, "", "0,2", false, ""},
		{two, formatUUID, "", "GPU-a,GPU-b", true, ""},
		{two, formatEnv, "", "CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=0,2", true, ""},
		{two, formatEnv, "", "CUDA_VISIBLE_DEVICES=0,2", false, ""},
		{part, formatEnv, "", "CUDA_VISIBLE_DEVICES=MIG-1", true, ""},
		{[]watch.Fit{{GPU: 3}}, "", "", "3", true, "nvidia-smi"},
	} {
		var out, errs bytes.Buffer
		a := &app{out: &out, err: &errs, env: func(name string) string { return map[string]string{"CUDA_DEVICE_ORDER": row.order}[name] }}
		if err := a.printGPUs(row.gpus, row.format, row.unlike); err != nil || out.String() != row.want+"\n" {
			t.Errorf("%+v: %v, %q", row, err, out.String())
		}
		if said := errs.String(); (said == "") != (row.said == "") || !strings.Contains(said, row.said) {
			t.Errorf("%+v said %q", row, said)
		}
	}
}

// A demo has a past, so check sees the peaks that are not there at the moment.
func TestCheckOfADemoSeesItsPeaks(t *testing.T) {
	for _, row := range []struct {
		code      int
		out, errs string
		args      []string
	}{
		{3, "within 60 s", "", []string{"check", "--need", "20GiB"}},
		{3, "", "within 60 s", []string{"check", "--need", "20GiB", "--format", "uuid"}},
		{3, `"window_s":60`, "", []string{"check", "--need", "20GiB", "--json"}},
		{3, "does not fit", "will never fit", []string{"check", "--need", "90GiB", "--window", "1h"}},
		{3, "", "will never fit", []string{"wait", "--need", "90GiB"}},
		{3, "", "free for 250 ms, ", []string{"wait", "--need", "47GiB", "--timeout", "500ms"}},
		{3, "", "gave up after 500 ms", []string{"wait", "--need", "47GiB", "--timeout", "500ms", "--hold", "400ms"}},
		{2, "", "--hold 10s can never be seen within --timeout 500ms", []string{"wait", "--need", "47GiB", "--timeout", "500ms", "--hold", "10s"}},
		{0, "CUDA_VISIBLE_DEVICES=", "", []string{"check", "--need", "100MiB", "--format", "env"}},
		{0, "fits", "", []string{"check", "--need", "100MiB", "--window", "0s"}},
		{2, "", "exclude", []string{"check", "--need", "1GiB", "--json", "--format", "env"}},
		{2, "", "index, uuid or env", []string{"check", "--need", "1GiB", "--format", "x"}},
	} {
		out, errs, code := command(t, append(row.args, "--demo")...)
		if code != row.code || !strings.Contains(out, row.out) || !strings.Contains(errs, row.errs) || row.out == "" && out != "" || row.errs == "" && errs != "" {
			t.Errorf("%v: %d\n%s%s", row.args, code, out, errs)
		}
	}
}

// The most that is free is that of the GPUs of which it is known, and nothing where it is known of none.
func TestMostFree(t *testing.T) {
	gib := func(n sampler.Bytes) watch.Waited {
		return watch.Waited{Fit: watch.Fit{WorstFree: sampler.Some(n * sampler.GiB)}}
	}
	for want, status := range map[string][]watch.Waited{"N/A (lost)": {{}, {}}, "0 B": {gib(0)}, "7.0 GiB": {{}, gib(7), gib(3)}} {
		if _, best := freeNow(status); orUnknown(best, "lost") != want {
			t.Errorf("%s, want %s", orUnknown(best, "lost"), want)
		}
	}
	if got := orUnknown(sampler.Opt[sampler.Bytes]{}, ""); got != "N/A" {
		t.Error(got)
	}
}

// What is true of many hosts is said once.
func TestNeverOnManyHosts(t *testing.T) {
	a := silent()
	var said strings.Builder
	a.err = &said
	w := &fleetWaiting{app: a, never: map[string]string{}}
	for i := range 125 {
		h := &fleet.Host{Name: fmt.Sprint("box", i)}
		w.hosts.hosts = append(w.hosts.hosts, h)
		w.never[h.Name] = "too small"
	}
	w.never["box5"] = "no GPU"
	w.sayNever()
	if want := "nvpeak: box0, box1, box2 and 121 more: too small\nnvpeak: box5: no GPU\n"; said.String() != want {
		t.Errorf("%s, want %s", said.String(), want)
	}
}
