package prom

import (
	"strings"
	"testing"

	"nvpeak/sampler"
	"nvpeak/sampler/kubelet"
)

// A pod that has its GPU alone is on the processes and under the names of dcgm-exporter; of several nobody knows whose a process is.
func TestPods(t *testing.T) {
	alone, one, two := kubelet.Pod{Namespace: "a", Name: "train-0", Container: "main"}, kubelet.Pod{Namespace: "b", Name: "serve-0", Container: "c"}, kubelet.Pod{Namespace: "b", Name: "serve-1", Container: "c"}
	pods := []kubelet.Pod{alone}
	r := newRig(t, Options{Processes: 9, DCGM: true, Pods: func(*sampler.GPU) []kubelet.Pod { return pods }})
	s := rich(r)
	g := &s.GPUs[0]
	g.Processes = append(g.Processes[:1:1], g.Processes[0])
	g.Processes[0].Container, g.Processes[1].PID = sampler.Some("k8s:0123456789ab"), 8 // the other runs beside Kubernetes
	r.Observe(s)
	const memory = "nvpeak_process_memory_bytes{"
	lines := func(prefix string) (found []string) {
		for line := range strings.Lines(r.text()) {
			if strings.HasPrefix(line, prefix) {
				found = append(found, line)
			}
		}
		return found
	}
	has := func(line string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(line, w) {
				t.Errorf("no %s in %s", w, line)
			}
		}
	}
	list := lines(memory)
	has(list[1], `namespace="a"`, `pod="train-0"`, `container="main"`, `pid="7"`)
	has(list[0], `namespace=""`, `pod=""`, `container=""`, `pid="8"`) // in the order of labels
	has(lines("DCGM_FI_DEV_FB_USED{")[0], `namespace="a"`, `pod="train-0"`, `container="main"`)
	pods = []kubelet.Pod{one, two}
	list = lines(memory)
	has(list[1], `pod=""`, `container="k8s:0123456789ab"`)
	has(lines("DCGM_FI_DEV_FB_USED{")[0], `pod=""`)
	if n := len(lines("nvpeak_gpu_pod_info{")); n < 2 {
		t.Errorf("%d pods", n)
	}
}
