package kubelet

import (
	"context"
	"encoding/binary"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"nvpeak/sampler"
)

func put(b []byte, field protowire.Number, value string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), value)
}

// message is an answer in which the fields do not come in their order, as they need not.
func message() []byte {
	device := func(resource string, ids ...string) string {
		var b []byte
		for _, id := range ids {
			b = put(b, deviceIDs, id)
		}
		b = put(b, 3, "topology") // and what is no business of ours
		return string(put(b, deviceResource, resource))
	}
	container := func(name string, devices ...string) string {
		var b []byte
		for _, d := range devices {
			b = put(b, containerDevices, d)
		}
		b = protowire.AppendVarint(protowire.AppendTag(b, 3, protowire.VarintType), 7)
		return string(put(b, containerName, name))
	}
	pod := func(namespace, name string, containers ...string) string {
		var b []byte
		for _, c := range containers {
			b = put(b, podContainers, c)
		}
		return string(put(put(b, podNamespace, namespace), podName, name))
	}
	var b []byte
	b = put(b, answerPods, pod("team-a", "train-0", container("sidecar"), container("main", device("nvidia.com/gpu", "GPU-1", "GPU-2"), device("example.com/nic", "GPU-3"))))
	b = put(b, answerPods, pod("team-b", "serve\x1b[31m", container("vllm", device("nvidia.com/gpu.shared", "GPU-4::0", "GPU-4::1"))))
	b = put(b, answerPods, pod("team-b", "embed", container("c", device("nvidia.com/gpu.shared", "GPU-4::2"))))
	b = put(b, answerPods, pod("gke", "p", container("c", device("nvidia.com/gpu", "nvidia5/vgpu1", "nvidia6/gi2"), device("nvidia.com/mig-1g.10gb", "MIG-9"))))
	return b
}

// serve answers as a gRPC server over HTTP/2 without TLS does.
func serve(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "kubelet.sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: answer, Protocols: new(http.Protocols), ReadHeaderTimeout: time.Second}
	s.Protocols.SetUnencryptedHTTP2(true)
	go s.Serve(l) //nolint:errcheck // it ends with the test
	t.Cleanup(func() { s.Close() })
	return socket
}

func frame(message []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
}

func grpcAnswer(body []byte, status string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1.PodResourcesLister/List" || r.Header.Get("Content-Type") != "application/grpc" {
			status = "12"
		}
		w.Header().Set("Trailer", "Grpc-Status")
		w.Write(body) //nolint:errcheck // the client says it
		w.Header().Set("Grpc-Status", status)
	}
}

func TestPods(t *testing.T) {
	k := New(serve(t, grpcAnswer(frame(message()), "0")))
	if err := k.ask(context.Background(), time.Now()); err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		gpu  sampler.GPU
		want []Pod
	}{
		{sampler.GPU{UUID: "GPU-2"}, []Pod{{"team-a", "train-0", "main"}}},
		{sampler.GPU{UUID: "GPU-3"}, nil}, // of another plugin
		{sampler.GPU{UUID: "GPU-4"}, []Pod{{"team-b", sampler.Clean("serve\x1b[31m"), "vllm"}, {"team-b", "embed", "c"}}},
		{sampler.GPU{UUID: "GPU-5", Index: 5}, []Pod{{"gke", "p", "c"}}},
		{sampler.GPU{UUID: "MIG-6", Index: 6, MIG: &sampler.MIG{GPUInstance: 2}}, []Pod{{"gke", "p", "c"}}},
		{sampler.GPU{UUID: "MIG-9", Index: 7, MIG: &sampler.MIG{}}, []Pod{{"gke", "p", "c"}}},
		{sampler.GPU{Index: 1}, nil},
	} {
		if got := k.Pods(&one.gpu); !slices.Equal(got, one.want) {
			t.Errorf("%s: %+v, not %+v", one.gpu.UUID, got, one.want)
		}
	}
}

// Whatever is wrong is one line; what was known holds for a minute.
func TestNoPods(t *testing.T) {
	for name, one := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"refused":   {grpcAnswer(nil, "7"), "gRPC status 7"},
		"cut":       {grpcAnswer(frame(message())[:40], "0"), "no message"},
		"garbage":   {grpcAnswer(frame([]byte("\xff\xff\xff")), "0"), "cannot be read"},
		"no gRPC":   {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<html>", http.StatusNotFound) }, "404"},
		"unbounded": {func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, maxAnswer+100)) }, "no message"}, //nolint:errcheck // the client ends it
	} {
		k := New(serve(t, one.answer))
		now := time.Now()
		k.newest.Store(&answer{held{"GPU-1": {{}}}, now})
		err := k.ask(context.Background(), now.Add(lifetime))
		if err == nil || !strings.Contains(err.Error(), one.want) || strings.Contains(err.Error(), "\n") || k.Pods(&sampler.GPU{UUID: "GPU-1"}) == nil {
			t.Errorf("%s: %v", name, err)
		}
		k.ask(context.Background(), now.Add(lifetime+time.Second)) //nolint:errcheck // as above
		if k.Pods(&sampler.GPU{UUID: "GPU-1"}) != nil {
			t.Errorf("%s: what is a minute old is told", name)
		}
	}
	k := New(filepath.Join(t.TempDir(), "none.sock"))
	if err := k.ask(context.Background(), time.Now()); err != nil || k.Pods(&sampler.GPU{UUID: "GPU-1"}) != nil {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(message())
	f.Add([]byte("\x0a\x80"))
	f.Fuzz(func(_ *testing.T, b []byte) {
		if h, err := parse(b); err == nil {
			_ = h["GPU-1"]
		}
	})
}
