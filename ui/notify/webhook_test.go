package notify

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
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
	shut, err := Webhook(srv.URL, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := shut.Send(t.Context(), []byte("{}")); !errors.Is(err, errPrivate) {
		t.Errorf("a loopback webhook gave %v, want the refusal", err)
	}
	post, err := Webhook(srv.URL, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := post.Send(t.Context(), []byte(`{"kind":"oom"}`)); err != nil {
		t.Fatal(err)
	}
	if body := string(<-got); body != `{"kind":"oom"}` {
		t.Errorf("posted %q", body)
	}
	for _, bad := range []string{"", "ftp://x/", "nonsense", "http://"} {
		if _, err := Webhook(bad, true); err == nil {
			t.Errorf("%q was taken for a webhook", bad)
		}
	}
}

// What is inside by its numbers, or is this machine by its name, is known before the first alert.
func TestRefused(t *testing.T) {
	for address, want := range map[string]error{
		"http://127.0.0.1:1/x": errPrivate, "http://[::1]/": errPrivate, "https://10.1.2.3/": errPrivate, "http://localhost:8080/": errPrivate, "http://LOCALHOST./": errPrivate,
		"http://a.localhost/": errPrivate, "https://93.184.216.34/": nil, "https://hooks.example.com/x": nil, "http://localhost.example.com/": nil,
	} {
		if got := Refused(address, false); !errors.Is(got, want) {
			t.Errorf("%s: %v, want %v", address, got, want)
		}
		if got := Refused(address, true); got != nil {
			t.Errorf("%s, allowed: %v", address, got)
		}
	}
	if Refused("ftp://x/", true) == nil {
		t.Error("ftp is no webhook")
	}
}

// What an answer means: sent, worth another try, or not.
func TestWebhookAnswers(t *testing.T) {
	for code, want := range map[int]string{200: "sent", 204: "sent", 302: "hopeless", 404: "hopeless", 401: "hopeless",
		408: "again", 425: "again", 429: "again", 500: "again", 503: "again"} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }))
		way, err := Webhook(strings.Replace(srv.URL, "http://", "http://ann:s3cr3t@", 1), true)
		if err != nil {
			t.Fatal(err)
		}
		err = way.Send(t.Context(), []byte("{}"))
		got := "again"
		switch {
		case err == nil:
			got = "sent"
		case hopeless(err):
			got = "hopeless"
		}
		if got != want || err != nil && (!strings.Contains(err.Error(), strconv.Itoa(code)) || strings.Contains(err.Error(), "s3cr3t")) {
			t.Errorf("%d: %s (%v), want %s", code, got, err, want)
		}
		if err := Reach(t.Context(), srv.URL, true); err != nil {
			t.Errorf("not reached: %v", err)
		}
		srv.Close()
		if err := Reach(t.Context(), srv.URL, true); err == nil {
			t.Error("reached, and nobody listens")
		}
		if err := way.Send(t.Context(), []byte("{}")); err == nil || hopeless(err) || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("nobody listens: %v", err)
		}
	}
}
