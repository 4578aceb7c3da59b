package prom

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"sync"
)

// Web is the file of a WebConfig that is in force. As with the exporters of Prometheus, the file is read anew for each request and each
// connection, and so are its certificates, so that what is changed or renewed counts. While they cannot be used, those of before stay in
// force and one line says why: a renewal that is half done stops nothing, and whoever is to be shut out stays so.
type Web struct {
	name    string
	trouble *Seldom
	mu      sync.Mutex
	once    bool   // it is no file that can be read again
	text    []byte // of config
	config  *WebConfig
	users   *passwords
	tls     *tls.Config // of the newest certificates that could be used; nil: no TLS
}

// OpenWeb reads the file, and those that it names. trouble is told what is wrong later, once a minute at most.
func OpenWeb(name string, trouble func(string)) (*Web, error) {
	w := &Web{name: name, trouble: NewSeldom(trouble)}
	return w, w.Reload()
}

// Reload reads the file now. The error is what is wrong with it, or with the certificates.
func (w *Web) Reload() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.look(); err != nil {
		return err
	}
	return w.certificates()
}

// look reads the file again, and takes it if it can be used.
func (w *Web) look() error {
	if w.once && w.config != nil {
		return nil
	}
	text, err := w.read()
	if err != nil {
		return err
	}
	if w.config != nil && bytes.Equal(text, w.text) {
		return nil
	}
	c, err := parseWebConfig(w.name, text)
	if err != nil {
		return err
	}
	if w.config != nil && c.Encrypts() != w.config.Encrypts() {
		return fmt.Errorf("%s: to serve with TLS instead of without, or without, it has to be started again", w.name)
	}
	if w.config != nil && len(w.config.Users) > 0 && len(c.Users) == 0 { // as in a file that is just being written
		return fmt.Errorf("%s: to serve without passwords it has to be started again", w.name)
	}
	w.text, w.config, w.users = text, c, &passwords{of: c.Users}
	return nil
}

// read reads the file. A pipe, such as <(echo …) of a shell, is read once: it would be empty the next time.
func (w *Web) read() ([]byte, error) {
	info, err := os.Stat(w.name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		if w.config != nil {
			return nil, fmt.Errorf("%s is no file any more", w.name)
		}
		w.once = true
	}
	return readText(w.name)
}

func (w *Web) certificates() error {
	if !w.config.Encrypts() {
		return nil
	}
	t, err := w.config.tls()
	if err != nil {
		return fmt.Errorf("%s: %w", w.name, err)
	}
	w.tls = t
	return nil
}

// now is what is in force for a request.
func (w *Web) now() (*WebConfig, *passwords) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.look(); err != nil {
		w.trouble.Say(BeforeStays + err.Error())
	}
	return w.config, w.users
}

// BeforeStays begins the line that says what is wrong with a file that has changed.
const BeforeStays = "what was read before stays in force: "

// ServerTLS is that of a server; nil: it has none.
func (w *Web) ServerTLS() *tls.Config {
	if w.tls == nil {
		return nil
	}
	t := w.tls.Clone()
	t.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		if err := w.Reload(); err != nil {
			w.trouble.Say(BeforeStays + err.Error())
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.tls, nil
	}
	return t
}

// Guard lets only those users in whom the file names, except to the path open, and adds its headers.
func (w *Web) Guard(next http.Handler, open string) http.Handler {
	return http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		c, known := w.now()
		for k, v := range c.HTTP.Headers {
			answer.Header().Set(k, v)
		}
		if user, password, _ := r.BasicAuth(); r.URL.Path != open && len(c.Users) > 0 && !known.right(user, password) {
			answer.Header().Set("WWW-Authenticate", "Basic")
			http.Error(answer, http.StatusText(http.StatusUnauthorized), http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(answer, r)
	})
}
