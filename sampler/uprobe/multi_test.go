//go:build linux && (amd64 || arm64)

package uprobe

import (
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/features"
	"github.com/cilium/ebpf/link"

	"nvpeak/sampler/request"
	"nvpeak/sampler/uprobe/cudatest"
)

// What the kernel is said to be able to do, it does.
func TestHave(t *testing.T) {
	cudatest.Alone(t)
	d, err := Open(request.New(everybody{}), Options{Libraries: []string{}})
	needDoor(t, err)
	defer d.Close()
	path := cudatest.Library(cudatest.Build(t))
	_, places, _ := functionsOf(path)
	x, err := link.OpenExecutable(path)
	if err != nil {
		t.Fatal(err)
	}
	l, err := x.UprobeMulti(nil, d.objects.Entered, &link.UprobeMultiOptions{Addresses: []uint64{places[number("cuMemAlloc_v2")]}})
	if err == nil {
		l.Close() //nolint:errcheck // it was only tried
	}
	if have := haveMulti(); have != (err == nil) || d.Single() == have {
		t.Errorf("many probes at once: %v, single %v, but %v", have, d.Single(), err)
	}
	err = features.HaveProgramHelper(ebpf.Kprobe, asm.FnGetAttachCookie)
	if have := haveCookies(); have != (err == nil) {
		t.Errorf("cookies: %v, but %v", have, err)
	}
}

// Before Linux 6.6 probes are set one at a time also where there is no libcuda yet.
func TestOldKernel(t *testing.T) {
	defer func(old func() bool) { haveMulti = old }(haveMulti)
	haveMulti = func() bool { return false }
	r := newRig(t, 1, Options{Libraries: []string{}})
	if !r.door.Single() {
		t.Error("all at once")
	}
	p := cudatest.Play(t, r.dir)
	p.Do("device 0")
	r.until("a request is seen", func() bool { p.Do("alloc a 1000", "free a"); r.snapshot(); return len(r.seen) > 0 })
}
