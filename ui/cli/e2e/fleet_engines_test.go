package e2e_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// engine is a program of others that a test needs. Where it is not installed the test is left out, but for CI, which says that all are.
func engine(t *testing.T, name, pkg string) string {
	t.Helper()
	for _, path := range []string{name, "/usr/sbin/" + name, "/usr/bin/" + name} {
		if found, err := exec.LookPath(path); err == nil {
			return found
		}
	}
	if os.Getenv("NVPEAK_TEST_ENGINES") != "" {
		t.Fatalf("%s is not installed: apt-get install %s", name, pkg)
	}
	t.Skipf("%s is not installed: apt-get install %s", name, pkg)
	return ""
}

// freePort is one that nobody listens on now.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// background runs a program until the test ends; stop ends it before.
func background(t *testing.T, env []string, name string, args ...string) (cmd *exec.Cmd, stop func(), said *bytes.Buffer) {
	t.Helper()
	said = &bytes.Buffer{}
	cmd = exec.Command(name, args...)
	cmd.Env, cmd.Stderr = env, said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop = func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // it may have ended
		cmd.Wait()                                      //nolint:errcheck // it was killed
	}
	t.Cleanup(stop)
	return cmd, stop, said
}

// answers waits for somebody to listen.
func answers(t *testing.T, address string, said *bytes.Buffer) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%v: %s", err, said)
		}
	}
}

// sshd is an OpenSSH server of our own on loopback, to which every name of its client's configuration leads.
type sshd struct {
	dir, config string
	port        int
	stop        func()
}

func (s *sshd) path(name string) string { return filepath.Join(s.dir, name) }

func (s *sshd) write(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.WriteFile(s.path(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return s.path(name)
}

// startSSHD starts one that runs commands with these variables.
func startSSHD(t *testing.T, env ...string) *sshd {
	t.Helper()
	server := engine(t, "sshd", "openssh-server")
	dir, err := os.MkdirTemp("", "nvpeak-sshd-") // short: no more than 104 bytes fit into the name of a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &sshd{dir: dir, port: freePort(t)}
	for _, key := range []string{"host", "user", "stranger"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", s.path(key)).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if os.Getuid() == 0 { // where Debian's service would make it
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Fatal(err)
		}
	}
	hostKey, err := os.ReadFile(s.path("host.pub"))
	if err != nil {
		t.Fatal(err)
	}
	known := s.write(t, "known", "box "+string(hostKey))
	config := s.write(t, "sshd_config", fmt.Sprintf("Port %d\nListenAddress 127.0.0.1\nHostKey %s\nAuthorizedKeysFile %s\nPasswordAuthentication yes\nKbdInteractiveAuthentication no\nStrictModes no\nPidFile none\nUsePAM no\nMaxStartups 100\nSetEnv %s\n",
		s.port, s.path("host"), s.path("user.pub"), strings.Join(env, " ")))
	one := fmt.Sprintf("  HostName 127.0.0.1\n  Port %d\n  IdentitiesOnly yes\n  HostKeyAlias box\n", s.port)
	s.config = s.write(t, "ssh_config", "Host box7 box8\n"+one+"  IdentityFile "+s.path("user")+"\n  UserKnownHostsFile "+known+"\n"+
		"Host keyless\n"+one+"  IdentityFile "+s.path("stranger")+"\n  UserKnownHostsFile "+known+"\n"+
		"Host stranger\n"+one+"  IdentityFile "+s.path("user")+"\n  UserKnownHostsFile /dev/null\n")
	_, stop, said := background(t, os.Environ(), server, "-D", "-e", "-f", config)
	s.stop = stop
	answers(t, fmt.Sprintf("127.0.0.1:%d", s.port), said)
	return s
}

// hosts is a hosts.toml with these machines; more stands in each table.
func (s *sshd) hosts(t *testing.T, more string, names ...string) string {
	t.Helper()
	text := ""
	for _, name := range names {
		text += fmt.Sprintf("[%s]\nssh = \"ssh -F %s\"\n%s\n", name, s.config, more)
	}
	return s.write(t, "hosts.toml", text)
}

// line is what the lines of stream --from have in common.
type line struct {
	Type   string  `json:"type"`
	Host   string  `json:"host"`
	State  string  `json:"state"`
	Via    string  `json:"via"`
	Reason string  `json:"reason"`
	Offset float64 `json:"clock_offset_s"`
	Time   time.Time
	GPUs   []struct {
		UUID   string
		Memory struct {
			Used   int64 `json:"used_bytes"`
			Window *struct {
				Max int64 `json:"max_bytes"`
			}
			Peak *struct {
				Bytes int64
			}
		}
	}
}

// streaming starts stream --from, and hands on its lines until it is told that it is enough.
func streaming(t *testing.T, s setup, most time.Duration, take func(line) (enough bool)) {
	t.Helper()
	cmd, next := streamed(t, s)
	limit := time.AfterFunc(most, func() { cmd.Process.Kill() }) //nolint:errcheck // it may have ended
	defer limit.Stop()
	for {
		l, ok := next()
		if !ok {
			t.Fatalf("it ends: %s", cmd.Stderr)
		}
		if take(l) {
			break
		}
	}
	cmd.Process.Signal(syscall.SIGTERM) //nolint:errcheck // it runs
	cmd.Wait()                          //nolint:errcheck // its code tells
	if code := cmd.ProcessState.ExitCode(); code != 143 {
		t.Errorf("exit %d: %s", code, cmd.Stderr)
	}
}

func streamed(t *testing.T, s setup) (*exec.Cmd, func() (line, bool)) {
	t.Helper()
	cmd := exec.Command(binary, append([]string{"stream"}, s.args...)...)
	cmd.Env, cmd.Stderr = s.environ(t), &bytes.Buffer{}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() }) //nolint:errcheck // it may have ended
	lines := bufio.NewReaderSize(out, 1<<20)
	return cmd, func() (l line, ok bool) {
		text, err := lines.ReadBytes('\n')
		if err != nil {
			return l, false
		}
		if err := json.Unmarshal(text, &l); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		return l, true
	}
}

// remote are the processes of this machine whose command line has a text.
func remote(t *testing.T, has string) (pids []int) {
	t.Helper()
	list, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range list {
		b, err := os.ReadFile(name)
		if err == nil && strings.Contains(strings.ReplaceAll(string(b), "\x00", " "), has) {
			if pid, err := strconv.Atoi(strings.Split(name, "/")[2]); err == nil && pid != os.Getpid() {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// within waits for something to be so.
func within(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !so(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not within ", patience, ": ", what)
		}
	}
}

// fetchable waits for a page.
func fetchable(t *testing.T, url string) {
	t.Helper()
	within(t, url, func() bool {
		answer, err := http.Get(url)
		if err != nil {
			return false
		}
		answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
}
