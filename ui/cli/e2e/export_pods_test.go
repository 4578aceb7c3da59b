package e2e_test

import (
	"bufio"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// kubelet plays one with the gRPC of Python, which is not ours: pods from its lines "namespace pod container resource id".
const kubelet = `import sys, concurrent.futures, grpc
def put(n, b):
    b = b if isinstance(b, bytes) else b.encode()
    size, k = b"", len(b)
    while k > 127: size, k = size + bytes([k & 127 | 128]), k >> 7
    return bytes([n << 3 | 2]) + size + bytes([k]) + b
answer = b""
for line in sys.argv[2:]:
    namespace, pod, container, resource, id = line.split()
    answer += put(1, put(1, pod) + put(2, namespace) + put(3, put(1, container) + put(2, put(1, resource) + put(2, id))))
class Lister(grpc.GenericRpcHandler):
    def service(self, call):
        if call.method == "/v1.PodResourcesLister/List":
            return grpc.unary_unary_rpc_method_handler(lambda request, context: answer)
server = grpc.server(concurrent.futures.ThreadPoolExecutor(2))
server.add_generic_rpc_handlers([Lister()])
server.add_insecure_port("unix:" + sys.argv[1])
server.start()
print("listening", flush=True)
server.wait_for_termination()
`

// pythonWith is a Python that has a module.
func pythonWith(t *testing.T, module string) string {
	t.Helper()
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(python, "-c", "import "+module).Run() == nil {
			return python
		}
	}
	if os.Getenv("NVPEAK_TEST_ENGINES") != "" {
		t.Fatalf("no Python has %s: apt install python3-grpcio", module)
	}
	t.Skipf("no Python here has %s (Debian: python3-grpcio), so no kubelet can be played", module)
	return ""
}

// The pods of the kubelet's pod-resources API are on the GPUs, in our own names and in those of dcgm-exporter.
func TestExportPods(t *testing.T) {
	t.Parallel()
	python := pythonWith(t, "grpc")
	socket := filepath.Join(t.TempDir(), "kubelet.sock")
	const first, second = "GPU-10000000-5eed-4000-8000-000000000000", "GPU-10000001-5eed-4000-8000-000000000001"
	server := exec.Command(python, "-c", kubelet, socket, "team-a train-0 main nvidia.com/gpu "+first,
		"team-b serve-0 vllm nvidia.com/gpu.shared "+second+"::0", "team-b serve-1 vllm nvidia.com/gpu.shared "+second+"::1")
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	server.Stderr = os.Stderr
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Process.Kill(); server.Wait() }) //nolint:errcheck // it ends so or so
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(line, err)
	}
	url, stop := exporting(t, setup{scenario: "gpu 0-1\nmem 0-1 used=8GiB\n", args: []string{"--dcgm-names", "--kubelet-socket", socket}})
	text := ""
	for until := time.Now().Add(patience); time.Now().Before(until) && !strings.Contains(text, "nvpeak_gpu_pod_info{"); time.Sleep(50 * time.Millisecond) {
		text = fetched(t, http.DefaultClient, url)
	}
	for _, want := range []string{
		`nvpeak_gpu_pod_info{container="main",gpu="0",mig="",namespace="team-a",pod="train-0",uuid="`,
		`nvpeak_gpu_pod_info{container="vllm",gpu="1",mig="",namespace="team-b",pod="serve-0",uuid="`,
		`nvpeak_gpu_pod_info{container="vllm",gpu="1",mig="",namespace="team-b",pod="serve-1",uuid="`,
		`namespace="team-a",pci_bus_id="`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if code, said := stop(); code != 143 || said != "" {
		t.Error(code, said)
	}
}
