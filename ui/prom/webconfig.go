package prom

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v2"
	"golang.org/x/crypto/bcrypt"

	"nvpeak/sampler"
)

// WebConfig is TLS, users and headers as the exporters of Prometheus have them in a file.
// Its form: https://github.com/prometheus/exporter-toolkit/blob/master/docs/web-configuration.md. That library itself
// would make the program larger by 4 MB, for a page with templates that nobody sees.
type WebConfig struct {
	TLS   tlsSection        `yaml:"tls_server_config"`
	HTTP  httpSection       `yaml:"http_server_config"`
	Users map[string]string `yaml:"basic_auth_users"` // name to the bcrypt hash of the password
}

type tlsSection struct {
	Cert       string `yaml:"cert_file"`
	Key        string `yaml:"key_file"`
	ClientAuth string `yaml:"client_auth_type"`
	ClientCA   string `yaml:"client_ca_file"`
	Min        string `yaml:"min_version"`
	Max        string `yaml:"max_version"`
}

type httpSection struct {
	HTTP2   *bool             `yaml:"http2"`
	Headers map[string]string `yaml:"headers"`
}

var tlsVersions = map[string]uint16{"TLS10": tls.VersionTLS10, "TLS11": tls.VersionTLS11, "TLS12": tls.VersionTLS12, "TLS13": tls.VersionTLS13}

var clientAuth = map[string]tls.ClientAuthType{"": tls.NoClientCert, "NoClientCert": tls.NoClientCert, "RequestClientCert": tls.RequestClientCert,
	"RequireAnyClientCert": tls.RequireAnyClientCert, "VerifyClientCertIfGiven": tls.VerifyClientCertIfGiven, "RequireAndVerifyClientCert": tls.RequireAndVerifyClientCert}

// headerName is a token of RFC 9110.
var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// maxWebConfig is more than anybody writes.
const maxWebConfig = 1 << 20

// readText reads a file as it is now.
func readText(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(file, maxWebConfig+1))
	if err == nil && len(text) > maxWebConfig {
		err = fmt.Errorf("%s: more than %s", name, sampler.Bytes(maxWebConfig))
	}
	return text, err
}

// parseWebConfig reads the text of a file. A key that it does not know is an error: it may be meant to protect. Errors are one
// line, with the line of the file that they are about.
func parseWebConfig(name string, text []byte) (*WebConfig, error) {
	c := &WebConfig{}
	err := yaml.UnmarshalStrict(bytes.TrimRight(text, " \n"), c)
	if err != nil {
		err = plainly(text, err)
	} else {
		err = c.check(text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, path := range []*string{&c.TLS.Cert, &c.TLS.Key, &c.TLS.ClientCA} {
		if *path != "" && !filepath.IsAbs(*path) {
			*path = filepath.Join(filepath.Dir(name), *path)
		}
	}
	return c, nil
}

// check looks at what is said, not at the files that it names.
func (c *WebConfig) check(text []byte) error {
	at := func(key, format string, values ...any) error {
		return fmt.Errorf(lineOf(text, key)+format, values...)
	}
	for _, user := range slices.Sorted(maps.Keys(c.Users)) {
		if user == "" || strings.Contains(user, ":") {
			return at("basic_auth_users", "basic_auth_users: %q is no name: one has a letter at least and no colon", user)
		}
		if _, err := bcrypt.Cost([]byte(c.Users[user])); err != nil {
			return at(user, "basic_auth_users: %s has no bcrypt hash; htpasswd -nB prints one", user)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.HTTP.Headers)) {
		if !headerName.MatchString(key) || strings.ContainsFunc(c.HTTP.Headers[key], unicode.IsControl) {
			return at(key, "http_server_config: headers: %q cannot be sent: letters, digits and dashes make a name, and its value is one line", key)
		}
	}
	t := &c.TLS
	if !c.Encrypts() {
		if *t != (tlsSection{}) {
			return at("tls_server_config", "tls_server_config needs cert_file and key_file")
		}
		return nil
	}
	for key, value := range map[string]string{"cert_file": t.Cert, "key_file": t.Key} {
		if value == "" {
			return at("tls_server_config", "tls_server_config: %s is missing", key)
		}
	}
	for _, one := range [][2]string{{"min_version", t.Min}, {"max_version", t.Max}} {
		if _, known := tlsVersions[one[1]]; !known && one[1] != "" {
			return at(one[0], "tls_server_config: %s: there is no %q, but TLS10, TLS11, TLS12, TLS13", one[0], one[1])
		}
	}
	if t.Max != "" && t.most() < t.least() {
		return at("max_version", "tls_server_config: nobody can connect: max_version %s is below the lowest version, %s", t.Max, cmp.Or(t.Min, "TLS12"))
	}
	auth, known := clientAuth[t.ClientAuth]
	switch {
	case !known:
		return at("client_auth_type", "tls_server_config: client_auth_type: there is no %q, but %s", t.ClientAuth, strings.Join(slices.Sorted(maps.Keys(clientAuth))[1:], ", "))
	case t.ClientCA == "" && auth >= tls.VerifyClientCertIfGiven:
		return at("client_auth_type", "tls_server_config: client_auth_type %s needs client_ca_file", t.ClientAuth)
	case t.ClientCA != "" && auth == tls.NoClientCert:
		return at("client_ca_file", "tls_server_config: client_ca_file without a client_auth_type that asks for certificates")
	}
	return nil
}

func (t *tlsSection) least() uint16 { return cmp.Or(tlsVersions[t.Min], tls.VersionTLS12) }
func (t *tlsSection) most() uint16  { return tlsVersions[t.Max] }

// Encrypts says whether it wants TLS.
func (c *WebConfig) Encrypts() bool { return c.TLS.Cert != "" || c.TLS.Key != "" }

// tls reads the certificates as they are now.
func (c *WebConfig) tls() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(c.TLS.Cert, c.TLS.Key)
	if err != nil {
		return nil, fmt.Errorf("tls_server_config: cert_file and key_file: %w", err)
	}
	t := &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: clientAuth[c.TLS.ClientAuth], MinVersion: c.TLS.least(), MaxVersion: c.TLS.most(), NextProtos: []string{"http/1.1"}}
	if c.HTTP.HTTP2 == nil || *c.HTTP.HTTP2 {
		t.NextProtos = []string{"h2", "http/1.1"}
	}
	if c.TLS.ClientCA == "" {
		return t, nil
	}
	list, err := os.ReadFile(c.TLS.ClientCA)
	if err != nil {
		return nil, fmt.Errorf("tls_server_config: client_ca_file: %w", err)
	}
	t.ClientCAs = x509.NewCertPool()
	if !t.ClientCAs.AppendCertsFromPEM(list) {
		return nil, fmt.Errorf("tls_server_config: client_ca_file: %s holds no certificate", c.TLS.ClientCA)
	}
	return t, nil
}
