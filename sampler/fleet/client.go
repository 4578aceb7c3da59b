package fleet

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"nvpeak/sampler"
)

// client asks one server. It keeps one connection, for nvpeak tells each of its scrapers the peak since its scrape before.
type client struct {
	spec *Spec
	http *http.Client
	date dated
	now  func() time.Time
}

const (
	askTimeout = 10 * time.Second // with the whole of the answer
	mostSecret = 64 << 10         // bytes of a file with a password or a token
)

func newClient(s *Spec, now func() time.Time) (*client, error) {
	t := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: askTimeout, KeepAlive: 30 * time.Second}).DialContext,
		MaxIdleConns:           1,
		MaxConnsPerHost:        2,
		IdleConnTimeout:        10 * time.Minute,
		TLSHandshakeTimeout:    askTimeout,
		MaxResponseHeaderBytes: 64 << 10,
	}
	if s.CAFile != "" {
		pem, err := os.ReadFile(s.CAFile)
		if err != nil {
			return nil, fmt.Errorf("%s: ca-file: %w", s.Source(), err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s: ca-file: no certificate in %s", s.Source(), s.CAFile)
		}
		t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	// A server sends nobody elsewhere: not this machine to its neighbors, and no password with it.
	return &client{spec: s, now: now, http: &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}, nil
}

// ask hands on the answer to a request, unpacked. The error says in one line what is wrong.
func (c *client) ask(ctx context.Context, method, url, form string, read func(io.Reader) error) error {
	ctx, stop := context.WithTimeout(ctx, askTimeout)
	defer stop()
	var body io.Reader
	if form != "" {
		body = strings.NewReader(form)
	}
	r, err := http.NewRequestWithContext(ctx, method, url, body)
	if err == nil {
		err = c.authorize(r)
	}
	if err != nil {
		return err
	}
	r.Header.Set("User-Agent", "nvpeak")
	if form != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	asked := c.now()
	answer, err := c.http.Do(r)
	if err != nil {
		return c.failure(err)
	}
	defer answer.Body.Close() //nolint:errcheck // it was read
	if date, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		c.date.note(date, asked, c.now())
	}
	if answer.StatusCode != http.StatusOK {
		return c.refused(answer)
	}
	err = read(answer.Body)
	if ctx.Err() != nil && err != nil {
		return fmt.Errorf("its answer takes longer than %v", askTimeout)
	}
	return err
}

// authorize adds what the server wants to know of us. Files are read each time: tokens are changed.
func (c *client) authorize(r *http.Request) error {
	if name := c.spec.PasswordFile; name != "" {
		password, err := secret(name)
		if err != nil {
			return fmt.Errorf("password-file: %w", err)
		}
		r.SetBasicAuth(c.spec.User, password)
	}
	if name := c.spec.BearerFile; name != "" {
		token, err := secret(name)
		if err != nil {
			return fmt.Errorf("bearer-file: %w", err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return nil
}

func secret(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read
	b, err := io.ReadAll(io.LimitReader(f, mostSecret))
	return strings.TrimSpace(string(b)), err
}

// refused is the error of another status.
func (c *client) refused(answer *http.Response) error {
	switch answer.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("it wants another name and password, or a token (%d): user and password-file, or bearer-file, in a hosts.toml", answer.StatusCode)
	case http.StatusNotFound:
		return fmt.Errorf("there is nothing at %s (404)", sampler.Clip(answer.Request.URL.Path))
	}
	if to := answer.Header.Get("Location"); answer.StatusCode/100 == 3 && to != "" {
		return fmt.Errorf("it sends elsewhere (%d), which is not followed: name the address itself, if you know it: %s", answer.StatusCode, sampler.Clip(sampler.Clean(to)))
	}
	text, _ := io.ReadAll(io.LimitReader(answer.Body, mostRefusal)) //nolint:errcheck // what there is
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	if said, ok := apiError(text); ok {
		line = said
	}
	if line = sampler.Clean(line); line == "" || strings.HasPrefix(line, "<") || strings.HasPrefix(line, "{") {
		line = http.StatusText(answer.StatusCode)
	}
	return fmt.Errorf("it answers %d: %s", answer.StatusCode, line)
}

// mostRefusal is how much of an answer is looked at for the reason of a refusal, in bytes.
const mostRefusal = 4 << 10

// failure says in our words why there is no answer.
func (c *client) failure(err error) error {
	var dns *net.DNSError
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	var timeout net.Error
	switch text := err.Error(); {
	case errors.As(err, &authority):
		return errors.New("its certificate is signed by nobody who is trusted here: ca-file in a hosts.toml")
	case errors.As(err, &name):
		return errors.New("its certificate is of another name")
	case errors.As(err, &invalid):
		return errors.New("its certificate is not valid: " + invalid.Error())
	case errors.As(err, &record), strings.Contains(text, "server gave HTTP response to HTTPS client"):
		return errors.New("it does not speak TLS: http, or without tls=1")
	case strings.Contains(text, "malformed HTTP"):
		return errors.New("it does not speak HTTP: https, or tls=1, or another port")
	case errors.As(err, &dns):
		return errors.New("there is no host of that name")
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("nothing listens there (connection refused)")
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return errors.New("there is no way to it")
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("it does not answer within %v", askTimeout)
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		return errors.New("it has closed the connection")
	}
	return errors.New(lastPart(err.Error()))
}

// lastPart is an error of net/http without what was asked.
func lastPart(text string) string {
	if i := strings.LastIndex(text, `": `); i >= 0 {
		text = text[i+3:]
	}
	return sampler.Clean(text)
}
