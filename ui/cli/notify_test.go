package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
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
