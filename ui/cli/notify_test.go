package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"nvpeak/sampler"
)

func TestPublicOnly(t *testing.T) {
	for address, public := range map[string]bool{
		"93.184.216.34:443": true, "[2606:2800:220:1::1]:443": true,
		"127.0.0.1:80": false, "[::1]:80": false, "10.1.2.3:80": false, "192.168.0.1:80": false, "172.20.0.1:80": false,
		"169.254.169.254:80": false, "[fe80::1]:80": false, "[fd00::1]:80": false, "0.0.0.0:80": false,
		"[::ffff:127.0.0.1]:80": false, "100.64.0.1:80": false, "224.0.0.1:80": false,
		"[::ffff:10.0.0.1]:80": false, "[::ffff:93.184.216.34]:80": true, // IPv4-mapped
		"192.0.0.8:80": false, "192.0.1.1:80": true, "198.18.0.1:80": false, "198.19.255.255:80": false, "198.20.0.1:80": true,
		"0.1.2.3:80": false, "240.0.0.1:80": false, "255.255.255.255:80": false,
		"[fec0::1]:80": false, "[feff::1%eth0]:80": false, // site-local
		// NAT64: that of the network itself is never outside, the well-known one says where it leads.
		"[64:ff9b::a01:203]:80": false, "[64:ff9b::a9fe:a9fe]:80": false, "[64:ff9b::5db8:d822]:80": true,
		"[64:ff9b:1::5db8:d822]:80": false, "[64:ff9b:1:ffff::1]:80": false,
		// 6to4 of 10.1.2.3 and of 93.184.216.34.
		"[2002:a01:203::1]:80": false, "[2002:7f00:1::1]:80": false, "[2002:5db8:d822::1]:80": true,
		// Teredo: by a public server to 10.1.2.3, to 93.184.216.34, and by the server 10.1.2.3.
		"[2001:0:5db8:d822::f5fe:fdfc]:80": false, "[2001:0:5db8:d822::a247:27dd]:80": true, "[2001:0:a01:203::a247:27dd]:80": false,
		"[::10.1.2.3]:80": false, "[::93.184.216.34]:80": false, // IPv4-compatible, given up
		"[::ffff:0:10.1.2.3]:80": false, // IPv4-translated
	} {
		if err := publicOnly(address); (err == nil) != public {
			t.Errorf("%s: %v, public %v", address, err, public)
		}
	}
}

func TestWebhook(t *testing.T) {
	got := make(chan []byte, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- body
	}))
	defer srv.Close()
	shut, err := webhook(srv.URL, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := shut(t.Context(), []byte("{}")); !errors.Is(err, errPrivate) {
		t.Errorf("a loopback webhook gave %v, want the refusal", err)
	}
	post, err := webhook(srv.URL, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := post(t.Context(), []byte(`{"kind":"oom"}`)); err != nil {
		t.Fatal(err)
	}
	if body := string(<-got); body != `{"kind":"oom"}` {
		t.Errorf("posted %q", body)
	}
	for _, bad := range []string{"", "ftp://x/", "nonsense", "http://"} {
		if _, err := webhook(bad, true); err == nil {
			t.Errorf("%q was taken for a webhook", bad)
		}
	}
}

// A command that does not end takes all that it started with it.
func TestOnAlertKillsGroup(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- runCommand(ctx, "sleep 600 & echo $! > "+file+"; wait", []byte("{}")) }()
	pid := writtenPID(t, file)
	cancel()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("a command that was killed gave no error")
		}
	case <-time.After(20 * time.Second):
		t.Error("the command goes on")
	}
	for range 1000 {
		if !alive(pid) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	syscall.Kill(pid, syscall.SIGKILL)
	t.Error("the child of the command lives on")
}

// What a command leaves in the background stays when the command itself has ended.
func TestOnAlertBackground(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	if err := runCommand(t.Context(), "sleep 600 >/dev/null 2>&1 </dev/null & echo $! > "+file, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	pid := writtenPID(t, file)
	if !alive(pid) {
		t.Error("it was killed")
	}
	syscall.Kill(pid, syscall.SIGKILL)
}

// writtenPID is the process that a command writes into a file, as soon as it has.
func writtenPID(t *testing.T, file string) int {
	t.Helper()
	for range 1000 {
		b, _ := os.ReadFile(file)
		if pid, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil && strings.HasSuffix(string(b), "\n") {
			return pid
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the command does not begin")
	return 0
}

// alive says whether a process runs; one that waits to be collected does not.
func alive(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := strings.Cut(string(b), ") ")
	return err == nil && !strings.HasPrefix(state, "Z")
}

// The command gets the alert as JSON; the caller is not kept waiting by a slow one.
func TestOnAlert(t *testing.T) {
	file := filepath.Join(t.TempDir(), "alert.json")
	a := &app{opt: options{onAlert: "cat > " + file + ".part && mv " + file + ".part " + file}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	tell, err := a.messenger(ctx)
	if err != nil {
		t.Fatal(err)
	}
	tell(sampler.Alert{Kind: "oom", Text: "it is; `rm -rf`", GPU: sampler.Some(3)})
	var alert sampler.Alert
	for range 500 {
		if b, err := os.ReadFile(file); err == nil {
			if err := json.Unmarshal(b, &alert); err != nil {
				t.Fatal(err)
			}
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if alert.Kind != "oom" || alert.GPU.Or(0) != 3 {
		t.Errorf("the command got %+v", alert)
	}
	if tell, err := (&app{}).messenger(ctx); tell != nil || err != nil {
		t.Errorf("without a way there is a messenger, %v", err)
	}
}
