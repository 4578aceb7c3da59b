package proc

import (
	"bytes"
	"strings"

	"nvpeak/sampler"
)

// containerForms are the names that runtimes give the control groups of their containers.
// An id follows the prefix; kind says what to call it. The systemd driver writes
// "docker-<id>.scope", the cgroupfs driver "/docker/<id>":
// https://docs.docker.com/engine/containers/runmetrics/ (docker),
// https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/cm/cgroup_manager_linux.go (kubepods),
// https://github.com/containers/podman/blob/main/libpod/container_internal_linux.go (libpod),
// https://slurm.schedmd.com/cgroup_v2.html (job_N below slurmstepd.scope).
var containerForms = []struct {
	kind, prefix, suffix string
	form                 func(string) (string, bool)
}{
	{"docker", "docker-", ".scope", hexID},
	{"containerd", "cri-containerd-", ".scope", hexID},
	{"containerd", "nerdctl-", ".scope", hexID},
	{"crio", "crio-", ".scope", hexID},
	{"podman", "libpod-", ".scope", hexID},
	{"podman", "libpod-", "", hexID},
	{"lxc", "lxc.payload.", "", anyName},
	{"nspawn", "machine-", ".scope", anyName},
	{"slurm", "job_", "", digits},
}

// containerParents are control groups whose children are named by the bare container id.
var containerParents = map[string]string{
	"docker": "docker", "ecs": "ecs", "libpod_parent": "podman", "lxc": "lxc", "default": "containerd", "k8s.io": "k8s",
}

// parseCgroup finds the container in /proc/PID/cgroup, as a label such as "docker:3f2a91c0b1d2",
// "k8s:9d0c1e2f3a4b", "podman:…", "slurm:1234". The innermost one counts. Absent: none.
func parseCgroup(b []byte) sampler.Opt[string] {
	for line := range bytes.Lines(b) {
		// "hierarchy:controllers:path"; the path may hold colons.
		parts := strings.SplitN(strings.TrimRight(string(line), "\n"), ":", 3)
		if len(parts) < 3 {
			continue
		}
		if label := containerOf(parts[2]); label != "" {
			return sampler.Some(label)
		}
	}
	return sampler.Opt[string]{}
}

// containerOf finds the innermost container of one control group path.
func containerOf(path string) string {
	segments := strings.Split(path, "/")
	for i := len(segments) - 1; i > 0; i-- {
		kind, id := containerSegment(segments[:i], segments[i])
		if kind == "" {
			continue
		}
		if kind != "slurm" && inKubernetes(segments[:i]) {
			kind = "k8s"
		}
		return kind + ":" + id
	}
	return ""
}

// containerSegment names the container of one path segment, given those above it.
func containerSegment(above []string, segment string) (kind, id string) {
	for _, f := range containerForms {
		rest, ok := strings.CutPrefix(segment, f.prefix)
		if !ok {
			continue
		}
		if rest, ok = strings.CutSuffix(rest, f.suffix); !ok {
			continue
		}
		if id, ok := f.form(rest); ok && (f.kind != "slurm" || inSlurm(above)) {
			return f.kind, id
		}
	}
	id, ok := hexID(segment)
	for _, parent := range above {
		if k := containerParents[parent]; k != "" && (ok || k == "lxc") {
			if !ok {
				id, ok = anyName(segment)
			}
			if ok {
				return k, id
			}
		}
	}
	if ok && inKubernetes(above) {
		return "k8s", id
	}
	return "", ""
}

func inKubernetes(above []string) bool {
	for _, s := range above {
		if strings.HasPrefix(s, "kubepods") || strings.HasPrefix(s, "kubelet-kubepods") {
			return true
		}
	}
	return false
}

func inSlurm(above []string) bool {
	for _, s := range above {
		if strings.Contains(s, "slurm") {
			return true
		}
	}
	return false
}

// hexID shortens a container id of 64 hexadecimal digits to 12, as the runtimes print it.
// ECS appends "-number" to 32 of them.
func hexID(s string) (string, bool) {
	for i := range len(s) {
		if !strings.Contains("0123456789abcdef", s[i:i+1]) {
			s = s[:i]
			break
		}
	}
	if len(s) < 32 {
		return "", false
	}
	return s[:12], true
}

func digits(s string) (string, bool) {
	_, ok := number([]byte(s))
	return s, ok
}

// anyName takes a name somebody chose, up to 32 bytes of it.
func anyName(s string) (string, bool) {
	return s[:min(len(s), 32)], s != ""
}
