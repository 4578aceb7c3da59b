package prom

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"
)

func hashed(t *testing.T, password string) string {
	t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	return string(hash)
}

var answered = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })

// code is the status of an answer through a guard.
func code(h http.Handler, path, user, password string) int {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	if user != "" {
		r.SetBasicAuth(user, password)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code
}

// heard keeps the lines that are said.
type heard struct {
	mu   sync.Mutex
	list []string
}

func (h *heard) say(text string) { h.mu.Lock(); defer h.mu.Unlock(); h.list = append(h.list, text) }
func (h *heard) all() []string   { h.mu.Lock(); defer h.mu.Unlock(); return h.list }

// Users and passwords count as soon as they are in the file; a file that cannot be used shuts nobody in or out, and is one line.
func TestWebConfigIsReadAgain(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) string { return put(t, dir, "web.yml", text) }
	said := &heard{}
	w, err := OpenWeb(write("basic_auth_users: {ann: \""+hashed(t, "old")+"\"}"), said.say)
	if err != nil {
		t.Fatal(err)
	}
	h := w.Guard(answered, "/-/healthy")
	want := func(what, path, user, password string, status int) {
		t.Helper()
		if got := code(h, path, user, password); got != status {
			t.Errorf("%s: %d, want %d", what, got, status)
		}
	}
	want("at first", "/metrics", "ann", "old", 204)
	want("without a password", "/metrics", "", "", 401)
	want("the probe", "/-/healthy", "", "", 204)
	want("beside the probe", "/-/healthy/", "", "", 401)
	write("basic_auth_users: {ann: \"" + hashed(t, "new") + "\"}")
	want("the old password", "/metrics", "ann", "old", 401)
	want("the new password", "/metrics", "ann", "new", 204)
	if said.all() != nil {
		t.Errorf("said %q", said.all())
	}
	for _, text := range []string{"", "{}", "basic_auth_users: {}", "basic_auth_users: [", "tls_server_config: {cert_file: a, key_file: b}"} {
		write(text)
		want("a broken file", "/metrics", "ann", "new", 204)
		want("a broken file", "/metrics", "", "", 401)
		if err := w.Reload(); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", text, err)
		}
	}
	os.Remove(filepath.Join(dir, "web.yml"))
	want("no file", "/metrics", "", "", 401)
	if list := said.all(); len(list) != 1 || !strings.Contains(list[0], "web.yml: to serve without passwords") || !strings.HasPrefix(list[0], BeforeStays) {
		t.Errorf("said %q", list)
	}
}

// What a shell hands over as a pipe can be read once: the next time it would be empty, and everybody let in.
func TestWebConfigFromAPipe(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	text := "basic_auth_users: {ann: \"" + hashed(t, "right") + "\"}"
	go os.WriteFile(name, []byte(text), 0o600) //nolint:errcheck // the test fails without it
	w, err := OpenWeb(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		h := w.Guard(answered, "/-/healthy")
		if with, without := code(h, "/metrics", "ann", "right"), code(h, "/metrics", "", ""); with != 204 || without != 401 {
			t.Errorf("%d with the password, %d without", with, without)
		}
		if err := w.Reload(); err != nil {
			t.Error(err)
		}
	}
}

// A key that is away while certificates are renewed stops nobody, and is one line.
func TestCertificatesThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	pair(t, dir, "box")
	said := &heard{}
	w, err := OpenWeb(put(t, dir, "web.yml", "tls_server_config: {cert_file: box.crt, key_file: box.key}"), said.say)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(answered)
	s.TLS = w.ServerTLS()
	s.StartTLS()
	defer s.Close()
	ask := func() error {
		answer, err := (&http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}).RoundTrip(httptest.NewRequest(http.MethodGet, s.URL, nil))
		if err == nil {
			answer.Body.Close()
		}
		return err
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	for _, broken := range []func() error{
		func() error { return os.Remove(filepath.Join(dir, "box.key")) },
		func() error { put(t, dir, "box.crt", "nothing"); return nil },
	} {
		if err := broken(); err != nil {
			t.Fatal(err)
		}
		if err := ask(); err != nil {
			t.Errorf("not served: %v", err)
		}
	}
	if list := said.all(); len(list) != 1 || !strings.Contains(list[0], "box.key") || !strings.HasPrefix(list[0], BeforeStays) {
		t.Errorf("said %q", list)
	}
}

// Who guesses passwords does not hold up the one whose password was right before.
func TestGuessesHoldUpNobody(t *testing.T) {
	p := &passwords{of: map[string]string{"ann": hashed(t, "right")}}
	if !p.right("ann", "right") {
		t.Fatal("refused")
	}
	p.slow.Lock() // a hash is being looked at
	done := make(chan bool, 1)
	go func() { done <- p.right("ann", "right") }()
	select {
	case ok := <-done:
		if !ok {
			t.Error("refused")
		}
	case <-time.After(10 * time.Second):
		t.Error("it waits for a hash")
	}
	p.slow.Unlock()
}

// A line comes once a minute, with how many were left out.
func TestSeldom(t *testing.T) {
	said, now := &heard{}, begin
	s := NewSeldom(said.say)
	s.clock = func() time.Time { return now }
	for range 3 {
		s.Say("a")
		now = now.Add(20 * time.Second)
	}
	s.Say("b")
	if got := strings.Join(said.all(), "|"); got != "a|b (and 2 times since the last such line)" {
		t.Error(got)
	}
	NewSeldom(nil).Say("nobody listens")
}
