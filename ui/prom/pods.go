package prom

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"nvpeak/sampler"
	"nvpeak/sampler/kubelet"
)

// Pods tells which pods were given a GPU.
type Pods func(*sampler.GPU) []kubelet.Pod

// mostPods have a series on one GPU; NVIDIA's plugin shares one among some tens at most.
const mostPods = 64

var gpuPod = gauge("nvpeak_gpu_pod_info", "A container of a Kubernetes pod that was given the GPU; always 1.", append(ofGPU[:3:3], "namespace", "pod", "container")...)

// of are those of a GPU.
func (p Pods) of(g *sampler.GPU) []kubelet.Pod {
	if p == nil {
		return nil
	}
	list := p(g)
	return list[:min(len(list), mostPods)]
}

// only is the pod that has the GPU for itself; the zero Pod: there is none, or several.
func (p Pods) only(g *sampler.GPU) (pod kubelet.Pod) {
	if list := p.of(g); len(list) == 1 {
		pod = list[0]
	}
	return pod
}

func (p Pods) send(ch chan<- prometheus.Metric, g *sampler.GPU) {
	for _, pod := range p.of(g) {
		gpuPod.send(ch, 1, gpuLabels(g, pod.Namespace, pod.Name, pod.Container)...)
	}
}

// podOf is the pod of a process, as far as it is known: that which alone was given the GPU, for what runs in a container of Kubernetes.
func (p Pods) podOf(g *sampler.GPU, process *sampler.Process) (pod kubelet.Pod) {
	if strings.HasPrefix(process.Container.Or(""), "k8s:") {
		pod = p.only(g)
	}
	return pod
}
