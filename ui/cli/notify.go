package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"syscall"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/redact"
)

const (
	sendTimeout = 10 * time.Second // of one command or post
	sendQueue   = 32               // alerts that wait; more are dropped
)

// messenger passes alerts on to --on-alert and --webhook, one after the other, without
// blocking. nil when neither is set.
func (a *app) messenger(ctx context.Context) (func(sampler.Alert), error) {
	var ways []func(context.Context, []byte) error
	if cmd := a.opt.onAlert; cmd != "" {
		ways = append(ways, func(ctx context.Context, body []byte) error { return runCommand(ctx, cmd, body) })
	}
	if a.opt.webhook != "" {
		post, err := webhook(a.opt.webhook, a.opt.webhookLocal)
		if err != nil {
			return nil, err
		}
		ways = append(ways, post)
	}
	if ways == nil {
		return nil, nil
	}
	queue := make(chan sampler.Alert, sendQueue)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case alert := <-queue:
				send(ctx, alert, ways)
			}
		}
	}()
	return func(alert sampler.Alert) {
		select {
		case queue <- alert:
		default:
		}
	}, nil
}

// send uses every way. What fails cannot be shown without disturbing the screen: the
// alert itself is on it.
func send(ctx context.Context, alert sampler.Alert, ways []func(context.Context, []byte) error) {
	body, err := json.Marshal(alert)
	if err != nil {
		return
	}
	body = sampler.EscapeJSON(redact.JSON(body))
	for _, way := range ways {
		limit, cancel := context.WithTimeout(ctx, sendTimeout)
		_ = way(limit, body)
		cancel()
	}
}

// runCommand runs a shell command. When its time is over, what it started is killed with it; what it left
// in the background is not, when it has ended by itself.
func runCommand(ctx context.Context, command string, body []byte) error {
	c := exec.CommandContext(ctx, "sh", "-c", command)
	c.Stdin = bytes.NewReader(body)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error {
		if err := syscall.Kill(-c.Process.Pid, syscall.SIGKILL); err != nil {
			return os.ErrProcessDone // the group is empty
		}
		return nil
	}
	c.WaitDelay = time.Second
	return c.Run()
}

// webhook posts to an http or https URL. Unless private addresses are allowed it refuses
// to connect to them, whatever name they hide behind: the address is checked after the
// name was resolved, and redirects are not followed.
func webhook(address string, private bool) (func(context.Context, []byte) error, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, usagef("--webhook takes an http or https URL") // not repeated: it may hold a password
	}
	dialer := &net.Dialer{Timeout: sendTimeout}
	if !private {
		dialer.Control = func(_, address string, _ syscall.RawConn) error { return publicOnly(address) }
	}
	client := &http.Client{
		Transport:     &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return func(ctx context.Context, body []byte) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
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
		if resp.StatusCode >= 300 {
			return fmt.Errorf("the webhook answered %s", resp.Status)
		}
		return nil
	}, nil
}

// errPrivate is the refusal of an address inside.
var errPrivate = errors.New("the webhook is on a loopback or private address: add --webhook-private to allow it")

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
