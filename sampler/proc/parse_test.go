package proc

import (
	"strings"
	"testing"
)

const id = "3f2a91c0b1d2e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d7e8f9"

func TestParseCgroup(t *testing.T) {
	for _, c := range []struct{ cgroup, want string }{
		{"0::/", ""},
		{"", ""},
		{"nonsense", ""},
		{"0::/user.slice/user-1000.slice/session-2.scope", ""},
		{"0::/system.slice/docker-" + id + ".scope", "docker:3f2a91c0b1d2"},
		{"12:memory:/docker/" + id + "\n11:cpu:/docker/" + id, "docker:3f2a91c0b1d2"},
		{"0::/../docker-" + id + ".scope", "docker:3f2a91c0b1d2"},
		{"0::/system.slice/docker-" + id + ".scope/init.scope", "docker:3f2a91c0b1d2"},
		{"0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-" + id + ".scope", "k8s:3f2a91c0b1d2"},
		{"0::/kubepods.slice/kubepods-pod1.slice/crio-" + id + ".scope", "k8s:3f2a91c0b1d2"},
		{"4:cpu:/kubepods/besteffort/pod9d0c/" + id, "k8s:3f2a91c0b1d2"},
		{"0::/kubelet-kubepods.slice/x/docker-" + id + ".scope", "k8s:3f2a91c0b1d2"},
		{"0::/machine.slice/libpod-" + id + ".scope/container", "podman:3f2a91c0b1d2"},
		{"0::/machine.slice/libpod-conmon-" + id + ".scope", ""},
		{"0::/user.slice/user-1.slice/user@1.service/user.slice/libpod-" + id + ".scope", "podman:3f2a91c0b1d2"},
		{"0::/machine.slice/crio-" + id + ".scope", "crio:3f2a91c0b1d2"},
		{"0::/system.slice/slurmstepd.scope/job_1234/step_0/user/task_0", "slurm:1234"},
		{"5:memory:/slurm/uid_1000/job_77/step_batch", "slurm:77"},
		{"0::/user.slice/job_77", ""}, // somebody's own name
		{"0::/system.slice/slurmstepd.scope/job_9/step_0/libpod-" + id + ".scope", "podman:3f2a91c0b1d2"},
		{"0::/lxc.payload.web1/init.scope", "lxc:web1"},
		{"0::/lxc/web1", "lxc:web1"},
		{"0::/lxc/", ""},
		{"3:cpu:/ecs/task/3f2a91c0b1d2e4f5a6b7c8d9e0f1a2b3-1234567890", "ecs:3f2a91c0b1d2"},
		{"0::/machine.slice/machine-arch.scope", "nspawn:arch"},
		{"0::/system.slice/docker-short.scope", ""},
		{"0::/a:b/docker-" + id + ".scope", "docker:3f2a91c0b1d2"},
	} {
		if got := parseCgroup([]byte(c.cgroup)).Or(""); got != c.want {
			t.Errorf("%q: %q, want %q", c.cgroup, got, c.want)
		}
	}
}

func TestParseStat(t *testing.T) {
	const tail = " 1 1 0 0 0"
	for _, c := range []struct {
		in   string
		ok   bool
		want stat
	}{
		{"7 (a) S 1 1 1 0 -1 0 0 0 0 0 10 5 0 0 20 0 1 0 99 1 33" + tail, true, stat{"a", 'S', 1, 15, 99, 33}},
		{"7 (a) S 1 1 1 0 -1 0 0 0 0 0 10 5 0 0 20 0 1 0 99 1 33\n", true, stat{"a", 'S', 1, 15, 99, 33}},
		{"7 (a\n) R 1) (x) Z 1 1 1 0 -1 0 0 0 0 0 1 2 0 0 20 0 1 0 3 1 4" + tail, true, stat{"a\n) R 1) (x", 'Z', 1, 3, 3, 4}},
		{"7 () S 1 1 1 0 -1 0 0 0 0 0 1 2 0 0 20 0 1 0 3 1 -5" + tail, true, stat{"", 'S', 1, 3, 3, 0}},
		{"7 (a) S 1 1 1 0 -1 0 0 0 0 0 1 2 0 0 20 0 1 0 3 1", false, stat{}},
		{"7 (a) S 1 1 1 0 -1 0 0 0 0 0 x 2 0 0 20 0 1 0 3 1 4" + tail, false, stat{}},
		{"7 (a) S 1 1 1 0 -1 0 0 0 0 0 99999999999999999999 2 0 0 20 0 1 0 3 1 4" + tail, false, stat{}},
		{"7 (a)", false, stat{}}, {"7 )a(", false, stat{}}, {"", false, stat{}},
	} {
		got, err := parseStat([]byte(c.in))
		if (err == nil) != c.ok || got != c.want {
			t.Errorf("%q: %+v %v, want %+v", c.in, got, err, c.want)
		}
	}
}

func TestFrameworkOfCommand(t *testing.T) {
	for _, c := range []struct{ command, want string }{
		{"torchrun --nproc 8 train.py", "pytorch"},
		{"/usr/bin/python3 /opt/venv/bin/torchrun train.py", "pytorch"},
		{"python -m torch.distributed.run train.py", "pytorch"},
		{"python -u -X dev -m vllm.entrypoints.openai.api_server --model x", "vllm"},
		{"/opt/venv/bin/python3.12 /opt/venv/bin/vllm serve x", "vllm"},
		{"vllm serve x", "vllm"},
		{"python -m sglang.launch_server", "sglang"},
		{"sglang::scheduler_TP0", "sglang"},
		{"/usr/local/bin/ollama runner --model x", "ollama"},
		{"llama-server -m x.gguf", "llama.cpp"},
		{"tritonserver --model-repository=/m", "triton"},
		{"python train.py", ""},
		{"python jax.py", ""},
		{"python -c import-vllm", ""},
		{"vim vllm", ""},
		{"grep -m vllm x", ""},
		{"python", ""},
		{"", ""},
	} {
		if got := frameworkOfCommand(strings.Fields(c.command)); got != c.want {
			t.Errorf("%q: %q, want %q", c.command, got, c.want)
		}
	}
}

func TestParseEnviron(t *testing.T) {
	for name, keep := range map[string]bool{
		"PYTORCH_CUDA_ALLOC_CONF": true, "PYTORCH_ALLOC_CONF": true, "PYTORCH_HIP_ALLOC_CONF": true,
		"XLA_PYTHON_CLIENT_MEM_FRACTION": true, "TF_FORCE_GPU_ALLOW_GROWTH": true, "TF_GPU_ALLOCATOR": true,
		"CUDA_VISIBLE_DEVICES": true, "CUDA_DEVICE_ORDER": true, "CUDA_MODULE_LOADING": true,
		"NCCL_BUFFSIZE": true, "NCCL_LL128_BUFFSIZE": true, "NCCL_MAX_NCHANNELS": true,
		"PATH": false, "HF_TOKEN": false, "AWS_SECRET_ACCESS_KEY": false, "TF_VAR_db_password": false,
		"TF_TOKEN_app_terraform_io": false, "OLLAMA_API_KEY": false, "NCCL_DEBUG": false, "XCUDA_VISIBLE_DEVICES": false,
	} {
		got := parseEnviron([]byte("A=b\x00" + name + "=v=1\x00" + name + "=second\x00noequals\x00=x"))
		if v, ok := got[name]; ok != keep || keep && v != "v=1" || len(got) > 1 {
			t.Errorf("%s: %v, want kept %v", name, got, keep)
		}
	}
	if got := parseEnviron([]byte("XLA_FLAGS=" + strings.Repeat("x", 1<<16))); len(got["XLA_FLAGS"]) != maxEnvironValue {
		t.Errorf("a value of %d bytes", len(got["XLA_FLAGS"]))
	}
}

func TestFrameworkOfEnviron(t *testing.T) {
	for _, c := range []struct {
		name string
		env  map[string]string
		want string
	}{
		{"python3", map[string]string{"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}, "jax"},
		{"python3", map[string]string{"PYTORCH_CUDA_ALLOC_CONF": "x"}, "pytorch"},
		{"Xorg", map[string]string{"PYTORCH_CUDA_ALLOC_CONF": "x"}, ""},
		{"python", map[string]string{"PYTORCH_CUDA_ALLOC_CONF": "x", "TF_GPU_ALLOCATOR": "y"}, ""},
		{"python", nil, ""},
	} {
		if got := frameworkOfEnviron(c.name, c.env); got != c.want {
			t.Errorf("%s %v: %q, want %q", c.name, c.env, got, c.want)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("7 (a) b) S 1 1 1 0 -1 0 0 0 0 0 10 5 0 0 20 0 1 0 99 1 33 1\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := parseStat(b)
		if err != nil && s != (stat{}) {
			t.Errorf("an error and %+v", s)
		}
		if !strings.Contains(string(b), s.name) {
			t.Errorf("name %q is not in %q", s.name, b)
		}
	})
}

func FuzzParseCgroup(f *testing.F) {
	f.Add([]byte("0::/kubepods.slice/x/cri-containerd-" + id + ".scope\n"))
	f.Add([]byte("4:cpu:/lxc/a\n1:x:/slurm/job_1"))
	f.Fuzz(func(t *testing.T, b []byte) {
		label, ok := parseCgroup(b).Value()
		if kind, id, sep := strings.Cut(label, ":"); ok && (!sep || kind == "" || id == "" || len(label) > 64) {
			t.Errorf("label %q of %q", label, b)
		}
	})
}

func FuzzSmallParsers(f *testing.F) {
	f.Add([]byte("Uid:\t1\nMemTotal: 5 kB\nbtime 7\nTF_X=1\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		parseUID(b)
		parseCommand(b)
		parseBoot(b)
		parseEnviron(b)
		args, _ := parseCommand(b)
		frameworkOfCommand(args)
		if m, ok := parseMeminfo(b).Value(); ok && (m.Available > m.Total || m.Total == 0) {
			t.Errorf("%+v of %q", m, b)
		}
		var l libraryFinder
		l.add(b)
		l.add(b)
	})
}
