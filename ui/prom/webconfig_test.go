package prom

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"
)

// pair writes a certificate and its key.
func pair(t *testing.T, dir, name string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, name+".crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	put(t, dir, name+".key", string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private})))
}

func put(t *testing.T, dir, name, text string) string {
	t.Helper()
	name = filepath.Join(dir, name)
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestWebConfigMistakes(t *testing.T) {
	dir := t.TempDir()
	pair(t, dir, "box")
	tls := "tls_server_config: {cert_file: box.crt, key_file: box.key"
	for text, want := range map[string]string{
		"":                            "",
		"# none":                      "",
		tls + "}":                     "",
		tls + ", min_version: TLS13}": "",
		tls + ", client_auth_type: RequestClientCert}":                                   "",
		"http_server_config: {headers: {X-A: b}, http2: false}":                          "",
		"basic_auth_user: {a: b}":                                                        "basic_auth_user",
		"basic_auth_users: {a: secret}":                                                  "a has no bcrypt hash",
		"tls_server_config: {cert_file: box.crt}":                                        "line 1: tls_server_config: key_file is missing",
		"tls_server_config: {cert_file: no.crt, key_file: box.key}":                      "no.crt",
		"tls_server_config: {cert_file: box.key, key_file: box.key}":                     "tls_server_config",
		"tls_server_config: {client_auth_type: RequireAnyClientCert}":                    "needs cert_file and key_file",
		tls + ", min_version: TLS14}":                                                    "TLS14",
		tls + ", client_auth_type: Maybe}":                                               "Maybe",
		tls + ", client_auth_type: RequireAndVerifyClientCert}":                          "needs client_ca_file",
		tls + ", client_ca_file: box.crt}":                                               "without a client_auth_type",
		tls + ", client_auth_type: RequireAndVerifyClientCert, client_ca_file: box.key}": "holds no certificate",
		tls + ", cypher_suites: [A]}":                                                    "cypher_suites",
		"{":                                                                              "line 1: it is no YAML",
		"# a\nbasic_auth_users:\n  ann: secret":                                          "line 3: basic_auth_users: ann has no bcrypt hash",
		"basic_auth_users: {\"\": \"$2y$10$abcdefghijklmnopqrstuuqflPDzB6gcMhKa1rZqKiun2YGL5sa2u\"}": "no name",
		"basic_auth_users: [a, b]":                        "line 1: a list stands where a group such as { name: text } belongs",
		"\nbasic_auth_users: secret":                      "line 2: a value stands where a group",
		"basic_auth_users: {a: b, a: c}":                  "line 1: a stands there twice",
		"http_server_config: {http2: maybe}":              "line 1: a value stands where true or false belongs",
		"http_server_config: {headers: {\"X Y\": b}}":     "cannot be sent",
		"tls_server_config:\n\tcert_file: box.crt":        "line 2: a tab; indent with blanks",
		"tls_server_confg: {}":                            "line 1: nvpeak knows no \"tls_server_confg\"; take it away or write one of tls_server_config, http_server_config, basic_auth_users",
		tls + ", min_version: TLS13, max_version: TLS12}": "line 1: tls_server_config: nobody can connect: max_version TLS12 is below the lowest version, TLS13",
		tls + ", max_version: TLS11}":                     "below the lowest version, TLS12",
		"tls_server_config:\n  cert_file: box.crt\n  key_file: box.key\n  cipher_suites: [A]": "line 4: tls_server_config: nvpeak knows no \"cipher_suites\"; take it away or write one of cert_file, key_file,",
		"tls_server_config: {key_file: box.key}":                                              "line 1: tls_server_config: cert_file is missing",
	} {
		_, err := OpenWeb(put(t, dir, "web.yml", text), nil)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
		if err != nil && (strings.ContainsAny(err.Error(), "\n`") || strings.Contains(err.Error(), "struct") || strings.Contains(err.Error(), "prom.") || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Only who is named and knows the password is answered, by TLS and with the certificate that the file holds now.
func TestWebConfigServes(t *testing.T) {
	dir := t.TempDir()
	pair(t, dir, "box")
	hash, err := bcrypt.GenerateFromPassword([]byte("right"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	c, err := OpenWeb(put(t, dir, "web.yml", "tls_server_config: {cert_file: box.crt, key_file: box.key, client_auth_type: RequireAndVerifyClientCert, client_ca_file: box.crt}\n"+
		"basic_auth_users: {ann: \""+string(hash)+"\"}\nhttp_server_config: {headers: {X-Frame-Options: deny}}"), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(c.Guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }), "/open"))
	s.TLS = c.ServerTLS()
	s.StartTLS()
	defer s.Close()
	ask := func(user, password string, certificate bool) (int, string) {
		t.Helper()
		mine := &tls.Config{InsecureSkipVerify: true}
		if certificate {
			one, err := tls.LoadX509KeyPair(filepath.Join(dir, "box.crt"), filepath.Join(dir, "box.key"))
			if err != nil {
				t.Fatal(err)
			}
			mine.Certificates = []tls.Certificate{one}
		}
		r, err := http.NewRequest(http.MethodGet, s.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		if user != "" {
			r.SetBasicAuth(user, password)
		}
		answer, err := (&http.Transport{TLSClientConfig: mine}).RoundTrip(r)
		if err != nil {
			return 0, ""
		}
		answer.Body.Close()
		return answer.StatusCode, answer.Header.Get("X-Frame-Options")
	}
	for _, row := range []struct {
		user, password string
		certificate    bool
		want           int
	}{{"ann", "right", true, 204}, {"ann", "right", true, 204}, {"ann", "wrong", true, 401}, {"bob", "right", true, 401}, {"", "", true, 401}, {"ann", "", true, 401}, {"ann", "right", false, 0}} {
		if got, header := ask(row.user, row.password, row.certificate); got != row.want || got != 0 && header != "deny" {
			t.Errorf("%+v: %d %q", row, got, header)
		}
	}
	pair(t, dir, "box") // renewed
	if got, _ := ask("ann", "right", true); got != 204 {
		t.Errorf("with a new certificate: %d", got)
	}
}
