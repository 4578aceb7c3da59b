package prom

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"nvpeak/sampler"
	"nvpeak/sampler/kubelet"
)

// ofProcess are the labels of a series of a process: those of its GPU, and who it is. A command line is none of them: each
// one would be series for ever.
var ofProcess = append(ofGPU[:3:3], "pid", "user", "name", "slurm_job", "namespace", "pod", "container")

var (
	processMemory = gauge("nvpeak_process_memory_bytes", "GPU memory of the process now.", ofProcess...)
	processPeak   = gauge("nvpeak_process_memory_peak_bytes", "Most GPU memory of the process since it was seen first, by what source says.", append(ofProcess[:len(ofProcess):len(ofProcess)], "source")...)
	processLayer  = gauge("nvpeak_process_allocator_bytes", "What PyTorch's allocator inside the process holds: allocated, unallocated (reserved, but free), largest_free.", append(ofProcess[:len(ofProcess):len(ofProcess)], "layer")...)
	processOOMs   = counter("nvpeak_process_allocator_ooms_total", "Requests that PyTorch's allocator could not fulfil.", ofProcess...)
	processRetry  = counter("nvpeak_process_allocator_retries_total", "Times that PyTorch's allocator gave its cache back and asked the driver again.", ofProcess...)
	processAsked  = counter("nvpeak_process_requests_total", "Requests for GPU memory that the driver answered, by its answer: granted, refused.", append(ofProcess[:len(ofProcess):len(ofProcess)], "answer")...)
	processFlush  = counter("nvpeak_process_flushes_total", "Requests that were refused, and granted after the process gave memory back.", ofProcess...)
	processMost   = gauge("nvpeak_process_largest_request_bytes", "Largest piece of GPU memory that the process asked the driver for.", ofProcess...)
	processesLeft = gauge("nvpeak_processes_left_out", "Processes without series of their own, for there are more than --processes.")
)

// held is a process on a GPU.
type held struct {
	gpu  *sampler.GPU
	proc *sampler.Process
}

// largest are the processes with the most memory, and how many are left out. One that runs on several GPUs is one on each. They
// are in the order of their GPUs, so that the text of an answer moves little.
func largest(s *sampler.Snapshot, most int) (list []held, left int) {
	for i := range s.GPUs {
		g := &s.GPUs[i]
		seen := map[int]bool{}
		for j := range g.Processes {
			if p := &g.Processes[j]; !seen[p.PID] { // a driver may list one twice
				seen[p.PID] = true
				list = append(list, held{g, p})
			}
		}
	}
	if len(list) > most {
		slices.SortStableFunc(list, func(a, b held) int { return cmp.Compare(weight(b.proc), weight(a.proc)) })
		left = len(list) - most
		list = list[:most]
	}
	return list, left
}

func weight(p *sampler.Process) sampler.Bytes { return p.Memory.Or(0) }

// sendProcesses sends the largest processes.
func sendProcesses(ch chan<- prometheus.Metric, s *sampler.Snapshot, most int, pods Pods) {
	list, left := largest(s, most)
	for _, h := range list {
		sendProcess(ch, h.gpu, h.proc, pods.podOf(h.gpu, h.proc))
	}
	processesLeft.send(ch, float64(left))
}

func sendProcess(ch chan<- prometheus.Metric, g *sampler.GPU, p *sampler.Process, pod kubelet.Pod) {
	job, container := "", p.Container.Or("")
	if id, ok := strings.CutPrefix(container, "slurm:"); ok {
		job, container = id, ""
	}
	container = cmp.Or(pod.Container, container)
	labels := func(more ...string) []string {
		return append(gpuLabels(g, strconv.Itoa(p.PID), p.User, p.Name, job, pod.Namespace, pod.Name, container), more...)
	}
	processMemory.known(ch, bytesOf(p.Memory), labels()...)
	if p.Peak != nil {
		processPeak.send(ch, float64(p.Peak.Bytes), labels(p.Peak.Source)...)
	}
	if a := p.Allocator; a != nil {
		processLayer.send(ch, float64(a.Allocated), labels("allocated")...)
		processLayer.send(ch, float64(a.Unallocated), labels("unallocated")...)
		processLayer.known(ch, bytesOf(a.LargestFree), labels("largest_free")...)
		processOOMs.send(ch, float64(a.OOMs), labels()...)
		processRetry.send(ch, float64(a.Retries), labels()...)
	}
	if r := p.Requests; r != nil {
		processAsked.send(ch, float64(r.Granted), labels("granted")...)
		processAsked.send(ch, float64(r.Refused), labels("refused")...)
		processFlush.send(ch, float64(r.Flushes), labels()...)
		processMost.send(ch, float64(r.Largest), labels()...)
	}
}
