package prom

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"

	"go.yaml.in/yaml/v2"
	"golang.org/x/crypto/bcrypt"
)

// WebConfig is TLS, users and headers as the exporters of Prometheus have them in a file.
// Its form: https://github.com/prometheus/exporter-toolkit/blob/master/docs/web-configuration.md. That library itself
// would make the program larger by 4 MB, for a page with templates that nobody sees.
type WebConfig struct {
	TLS struct {
		Cert       string     `yaml:"cert_file"`
		Key        string     `yaml:"key_file"`
		ClientAuth string     `yaml:"client_auth_type"`
		ClientCA   string     `yaml:"client_ca_file"`
		Min        tlsVersion `yaml:"min_version"`
		Max        tlsVersion `yaml:"max_version"`
	} `yaml:"tls_server_config"`
	HTTP struct {
		HTTP2   *bool             `yaml:"http2"`
		Headers map[string]string `yaml:"headers"`
	} `yaml:"http_server_config"`
	Users map[string]string `yaml:"basic_auth_users"` // name to the bcrypt hash of the password
}

type tlsVersion uint16

var tlsVersions = map[string]tlsVersion{"TLS10": tls.VersionTLS10, "TLS11": tls.VersionTLS11, "TLS12": tls.VersionTLS12, "TLS13": tls.VersionTLS13}

// UnmarshalYAML reads "TLS12".
func (v *tlsVersion) UnmarshalYAML(read func(any) error) error {
	name := ""
	if err := read(&name); err != nil {
		return err
	}
	known := false
	if *v, known = tlsVersions[name]; !known {
		return fmt.Errorf("there is no TLS version %q: TLS10, TLS11, TLS12, TLS13", name)
	}
	return nil
}

var clientAuth = map[string]tls.ClientAuthType{"": tls.NoClientCert, "NoClientCert": tls.NoClientCert, "RequestClientCert": tls.RequestClientCert,
	"RequireAnyClientCert": tls.RequireAnyClientCert, "VerifyClientCertIfGiven": tls.VerifyClientCertIfGiven, "RequireAndVerifyClientCert": tls.RequireAndVerifyClientCert}

// maxWebConfig is more than anybody writes.
const maxWebConfig = 1 << 20

// ReadWebConfig reads the file, and those that it names. A key that it does not know is an error: it may be meant to protect.
func ReadWebConfig(name string) (*WebConfig, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(file, maxWebConfig))
	if err != nil {
		return nil, err
	}
	c := &WebConfig{}
	if err := yaml.UnmarshalStrict(bytes.TrimSpace(text), c); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, path := range []*string{&c.TLS.Cert, &c.TLS.Key, &c.TLS.ClientCA} {
		if *path != "" && !filepath.IsAbs(*path) {
			*path = filepath.Join(filepath.Dir(name), *path)
		}
	}
	for user, hash := range c.Users {
		if _, err := bcrypt.Cost([]byte(hash)); err != nil {
			return nil, fmt.Errorf("%s: basic_auth_users: the password of %s is no bcrypt hash (htpasswd -nBC 10 \"\" makes one)", name, user)
		}
	}
	if c.Encrypts() {
		_, err = c.tls()
	} else if c.TLS.ClientAuth != "" || c.TLS.ClientCA != "" || c.TLS.Min != 0 || c.TLS.Max != 0 {
		err = errors.New("tls_server_config needs cert_file and key_file")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return c, nil
}

// Encrypts says whether it wants TLS.
func (c *WebConfig) Encrypts() bool { return c.TLS.Cert != "" || c.TLS.Key != "" }

// tls reads the certificates as they are now.
func (c *WebConfig) tls() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(c.TLS.Cert, c.TLS.Key)
	if err != nil {
		return nil, fmt.Errorf("tls_server_config: %w", err)
	}
	auth, known := clientAuth[c.TLS.ClientAuth]
	if !known {
		return nil, fmt.Errorf("tls_server_config: client_auth_type: there is no %q", c.TLS.ClientAuth)
	}
	t := &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: auth, MinVersion: tls.VersionTLS12, MaxVersion: uint16(c.TLS.Max), NextProtos: []string{"http/1.1"}}
	if c.TLS.Min != 0 {
		t.MinVersion = uint16(c.TLS.Min)
	}
	if c.HTTP.HTTP2 == nil || *c.HTTP.HTTP2 {
		t.NextProtos = []string{"h2", "http/1.1"}
	}
	if c.TLS.ClientCA == "" {
		if auth >= tls.VerifyClientCertIfGiven {
			return nil, fmt.Errorf("tls_server_config: client_auth_type %s needs client_ca_file", c.TLS.ClientAuth)
		}
		return t, nil
	}
	list, err := os.ReadFile(c.TLS.ClientCA)
	if err != nil {
		return nil, fmt.Errorf("tls_server_config: %w", err)
	}
	t.ClientCAs = x509.NewCertPool()
	if !t.ClientCAs.AppendCertsFromPEM(list) {
		return nil, fmt.Errorf("tls_server_config: %s holds no certificate", c.TLS.ClientCA)
	}
	if auth == tls.NoClientCert {
		return nil, errors.New("tls_server_config: client_ca_file without a client_auth_type that asks for certificates")
	}
	return t, nil
}

// ServerTLS is that of a server. Certificates are read anew for each connection, so that those that are renewed count.
func (c *WebConfig) ServerTLS() (*tls.Config, error) {
	t, err := c.tls()
	if err == nil {
		t.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return c.tls() }
	}
	return t, err
}

// Guard lets only those users in whom the file names, and adds its headers.
func (c *WebConfig) Guard(next http.Handler) http.Handler {
	known := &passwords{of: c.Users}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for k, v := range c.HTTP.Headers {
			w.Header().Set(k, v)
		}
		if user, password, _ := r.BasicAuth(); len(c.Users) > 0 && !known.right(user, password) {
			w.Header().Set("WWW-Authenticate", "Basic")
			http.Error(w, http.StatusText(http.StatusUnauthorized), http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// passwords checks them. A hash takes tens of milliseconds, by intention: those that were right are known again at once, and one at
// a time is looked at, so that wrong ones cost no more than one core.
type passwords struct {
	of   map[string]string
	mu   sync.Mutex
	seen map[string][sha256.Size]byte // of the password that was right
}

// nobody is the hash that a name which nobody has is compared with, so that the time does not tell names.
var nobody = sync.OnceValue(func() []byte {
	hash, _ := bcrypt.GenerateFromPassword([]byte("nobody"), bcrypt.DefaultCost) //nolint:errcheck // the password is short
	return hash
})

func (p *passwords) right(user, password string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	sum := sha256.Sum256([]byte(password))
	if before, ok := p.seen[user]; ok && subtle.ConstantTimeCompare(before[:], sum[:]) == 1 {
		return true
	}
	hash, known := p.of[user]
	if !known {
		bcrypt.CompareHashAndPassword(nobody(), []byte(password)) //nolint:errcheck // for its time
		return false
	}
	if bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) != nil {
		return false
	}
	if p.seen == nil {
		p.seen = map[string][sha256.Size]byte{}
	}
	p.seen[user] = sum
	return true
}
