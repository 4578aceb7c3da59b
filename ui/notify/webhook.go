package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
)

// Webhook posts to an http or https URL. Unless private addresses are allowed it refuses
// to connect to them, whatever name they hide behind: the address is checked after the
// name was resolved, and redirects are not followed.
func Webhook(address string, private bool) (Way, error) {
	if _, err := parse(address); err != nil {
		return Way{}, err
	}
	client := &http.Client{
		Transport:     &http.Transport{DialContext: dialer(private).DialContext, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return Way{"webhook", func(ctx context.Context, alert []byte) error { return post(ctx, client, address, alert) }}, nil
}

// Valid is why an address is none that can be posted to.
func Valid(address string) error {
	_, err := parse(address)
	return err
}

func parse(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("it takes an http or https URL") // not repeated: it may hold a password
	}
	return u, nil
}

// Refused is why nothing will ever be posted to an address, as far as that is known without asking for the address of its name.
func Refused(address string, private bool) error {
	u, err := parse(address)
	if err != nil || private {
		return err
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	ip, err := netip.ParseAddr(host)
	if err == nil && !outside(ip) || host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return errPrivate
	}
	return nil
}

// Reach connects to where a webhook is, without posting anything.
func Reach(ctx context.Context, address string, private bool) error {
	u, err := parse(address)
	if err != nil {
		return err
	}
	port := u.Port()
	if port == "" {
		port = u.Scheme // net knows the names
	}
	conn, err := dialer(private).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return err
	}
	return conn.Close()
}

func dialer(private bool) *net.Dialer {
	d := &net.Dialer{Timeout: sendTimeout}
	if !private {
		d.Control = func(_, address string, _ syscall.RawConn) error { return publicOnly(address) }
	}
	return d
}

func post(ctx context.Context, client *http.Client, address string, alert []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(alert))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	var failed *url.Error
	if errors.As(err, &failed) {
		return failed.Err // without the address, which is a secret of its own
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // nothing is read from it
	return answerError(resp.StatusCode, resp.Status)
}

// answerError is what an answer means. A request that is refused as such will be refused again; one
// that came too soon or took too long may pass.
func answerError(code int, status string) error {
	err := fmt.Errorf("the webhook answered %s", status)
	switch {
	case code < 300:
		return nil
	case code >= 500, code == http.StatusTooManyRequests, code == http.StatusRequestTimeout, code == http.StatusTooEarly:
		return err
	}
	return Hopeless{err}
}

// errPrivate is the refusal of an address inside.
var errPrivate = Hopeless{errors.New("the webhook is on a loopback or private address: add --webhook-private to allow it")}

func publicOnly(address string) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if !outside(ap.Addr()) {
		return errPrivate
	}
	return nil
}
