// Package kubelet knows from the kubelet of this node which pods hold which GPUs.
//
// It asks the pod-resources API, one call of gRPC over a Unix socket:
// https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/#monitoring-device-plugin-resources
// The call is made with net/http and read with protowire: grpc-go 1.85 would add 6 MB to a program of 22.7 (stripped, amd64, 2026-11-23).
package kubelet

import (
	"context"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"nvpeak/sampler"
)

// Socket is where the kubelet listens.
const Socket = "/var/lib/kubelet/pod-resources/kubelet.sock"

// Pod is a container of a pod that was given a GPU.
type Pod struct{ Namespace, Name, Container string }

// held are the pods by the names of what they hold, as its device plugin calls it.
type held map[string][]Pod

// Kubelet is asked now and then. It is safe for several goroutines.
type Kubelet struct {
	socket string
	newest atomic.Pointer[answer]
}

type answer struct {
	held
	at time.Time
}

const (
	// period is how old an answer is before it is asked again: pods come and go in seconds to days.
	period = 10 * time.Second
	// patience is how long it may take to answer.
	patience = 5 * time.Second
	// lifetime is how long an answer holds when no other one follows.
	lifetime = time.Minute
)

// New makes one for a socket, which need not be there.
func New(socket string) *Kubelet { return &Kubelet{socket: socket} }

// Run asks until the context ends. trouble is told what is wrong, each time; that there is no socket is no trouble.
func (k *Kubelet) Run(ctx context.Context, trouble func(error)) {
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		if err := k.ask(ctx, time.Now()); err != nil && ctx.Err() == nil {
			trouble(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (k *Kubelet) ask(ctx context.Context, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	h, err := list(ctx, k.socket)
	if err == nil {
		k.newest.Store(&answer{h, now})
	} else if a := k.newest.Load(); a != nil && now.Sub(a.at) > lifetime {
		k.newest.Store(nil)
	}
	return err
}

// Pods are those that hold a GPU or MIG instance; several where it is shared.
func (k *Kubelet) Pods(g *sampler.GPU) []Pod {
	a := k.newest.Load()
	if a == nil {
		return nil
	}
	if pods := a.held[g.UUID]; g.UUID != "" && pods != nil {
		return pods
	}
	name := "nvidia" + strconv.Itoa(g.Index) // what GKE's plugin calls it
	if g.MIG != nil {
		name += "/gi" + strconv.Itoa(g.MIG.GPUInstance)
	}
	return a.held[name]
}

// deviceName is what is shared, of the name of a share of it: "GPU-…::3" is one of NVIDIA's plugin, "nvidia0/vgpu2" one of GKE's.
func deviceName(id string) string {
	id, _, _ = strings.Cut(id, "::")
	id, _, _ = strings.Cut(id, "/vgpu")
	return id
}
