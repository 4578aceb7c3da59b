package fleet

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"nvpeak/sampler"
)

// Kind is the engine of a source.
type Kind string

// The kinds of sources.
const (
	SSH        Kind = "ssh"        // nvpeak or nvidia-smi over the system's ssh
	Page       Kind = "http"       // the metrics of an exporter
	Prometheus Kind = "prometheus" // a server, by its HTTP API
)

// Spec is one source: a machine, or a server that knows several.
type Spec struct {
	Kind  Kind
	Name  string // what the host is called; empty: by its address, or as it calls itself
	Host  string // of ssh: a machine, or a Host of ~/.ssh/config
	User  string // of ssh and of basic authentication
	Port  int    // of ssh; 0: that of its configuration
	URL   string // of the others, without what is secret
	Match string // of Prometheus: a selector that the series must fit, {cluster="a"}

	Command      []string // instead of ssh
	Program      string   // nvpeak on the machine, where it is not in its PATH
	PasswordFile string   // of basic authentication
	BearerFile   string   // a token
	CAFile       string   // certificates that are trusted, instead of the system's
}

// Forms says what sources look like, for error messages.
const Forms = "ssh://host[:port][,host…], http(s)://host:port/metrics, prometheus://server[:port] or a file hosts.toml"

// hostName is what may be handed to ssh: nothing that it would take for an option, and nothing that a shell reads.
var hostName = sampler.Pattern{Source: `^[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?$`}

var userName = sampler.Pattern{Source: `^[A-Za-z0-9_][A-Za-z0-9_.@+-]*$`}

// mostHosts bounds a fleet.
const mostHosts = 2048

// Parse reads one source. Several hosts of ssh are a Spec each. The error says what to write instead.
func Parse(source string) ([]Spec, error) {
	scheme, rest, ok := strings.Cut(source, "://")
	if !ok {
		return nil, fmt.Errorf("%q is no source: %s", source, Forms)
	}
	switch strings.ToLower(scheme) {
	case "ssh":
		return parseSSH(source, rest)
	case "http", "https":
		s, err := parsePage(source)
		return []Spec{s}, err
	case "prometheus", "prometheus+http", "prometheus+https":
		s, err := parsePrometheus(source)
		return []Spec{s}, err
	}
	return nil, fmt.Errorf("%q: there are no sources %s://: %s", source, sampler.Clip(scheme), Forms)
}

func parseSSH(source, rest string) (list []Spec, err error) {
	rest = strings.TrimSuffix(rest, "/")
	if strings.ContainsAny(rest, "/?#") {
		return nil, fmt.Errorf("%q: ssh://host takes no path: options of ssh belong into ~/.ssh/config, or into a file hosts.toml", source)
	}
	for _, one := range strings.Split(rest, ",") {
		s := Spec{Kind: SSH}
		host := strings.TrimSpace(one)
		if i := strings.LastIndexByte(host, '@'); i >= 0 {
			s.User, host = host[:i], host[i+1:]
			if strings.Contains(s.User, ":") {
				return nil, fmt.Errorf("a password in ssh://…@%s: nvpeak never takes one; set up a key: ssh-copy-id %s", sampler.Clip(host), sampler.Clip(host))
			}
			if !userName.Get().MatchString(s.User) {
				return nil, fmt.Errorf("%q: %q is no user", source, s.User)
			}
		}
		if s.Host, s.Port, err = hostAndPort(host); err != nil {
			return nil, fmt.Errorf("%q: %w", source, err)
		}
		list = append(list, s)
	}
	return list, nil
}

// hostAndPort cuts "host", "host:22", "[::1]" or "[::1]:22"; the port is 0 where there is none.
func hostAndPort(text string) (host string, port int, err error) {
	host = text
	if i := strings.LastIndexByte(text, ':'); i >= 0 && !strings.HasSuffix(text, "]") {
		if port, err = strconv.Atoi(text[i+1:]); err != nil || port < 1 || port > 65535 {
			return "", 0, fmt.Errorf("%q is no host and port, such as box7:22", text)
		}
		host = text[:i]
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		if ok && net.ParseIP(inner) != nil {
			return inner, port, nil
		}
	}
	if !hostName.Get().MatchString(host) {
		return "", 0, fmt.Errorf("%q is no host: a name such as box7, or an address", host)
	}
	return host, port, nil
}

// possiblePort refuses ports that there are not, which url.Parse lets pass.
func possiblePort(u *url.URL) error {
	if text := u.Port(); text != "" {
		if n, err := strconv.Atoi(text); err != nil || n < 1 || n > 65535 {
			return fmt.Errorf("%q is no port", text)
		}
	}
	return nil
}

var errSecretInURL = errors.New("a password in an address is for all to see: name its file in a hosts.toml (user, password-file)")

func parsePage(source string) (s Spec, err error) {
	u, err := url.Parse(source)
	if err == nil {
		err = possiblePort(u)
	}
	if (err != nil || u.Hostname() == "") && strings.Contains(source, ",") {
		return s, fmt.Errorf("%q: each page is a source of its own: --from http://box7:9835 --from http://box8:9835", source)
	}
	if err != nil || u.Hostname() == "" {
		return s, fmt.Errorf("%q is no address, such as http://box7:9835/metrics", source)
	}
	if u.User != nil {
		return s, errSecretInURL
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/metrics"
	}
	u.Fragment = ""
	return Spec{Kind: Page, URL: u.String()}, nil
}

func parsePrometheus(source string) (s Spec, err error) {
	u, err := url.Parse(source)
	if err != nil || u.Hostname() == "" {
		return s, fmt.Errorf("%q is no address, such as prometheus://prometheus:9090", source)
	}
	if u.User != nil {
		return s, errSecretInURL
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return s, fmt.Errorf("%q: what follows ? cannot be read: match={job=\"gpu\"} and tls=1 may stand there", source)
	}
	for key := range query {
		if key != "match" && key != "tls" {
			return s, fmt.Errorf("%q: there is no %q: match={job=\"gpu\"} and tls=1 may stand there", source, key)
		}
	}
	if s.Match, err = Selector(query.Get("match")); err != nil {
		return s, fmt.Errorf("%q: %w", source, err)
	}
	tls := u.Scheme == "prometheus+https" || query.Get("tls") != "" && query.Get("tls") != "0"
	u.Scheme = "http"
	if tls {
		u.Scheme = "https"
	}
	if u.Port() == "" && !tls {
		u.Host += ":9090"
	}
	u.RawQuery, u.Fragment = "", ""
	u.Path = strings.TrimSuffix(u.Path, "/")
	s.Kind, s.URL = Prometheus, u.String()
	return s, nil
}

var matcher = sampler.Pattern{Source: `^\s*[A-Za-z_][A-Za-z0-9_]*\s*(?:=|!=|=~|!~)\s*"(?:[^"\\]|\\.)*"\s*$`}

// Selector is the inside of the braces of match: job="gpu",cluster=~"a.*". It is put into queries, so nothing else may stand there.
func Selector(text string) (string, error) {
	text = strings.TrimSpace(text)
	if inside, opened := strings.CutPrefix(text, "{"); opened {
		if text, opened = strings.CutSuffix(inside, "}"); !opened {
			return "", fmt.Errorf(`match has no } at its end: %q`, sampler.Clip(inside))
		}
	}
	if strings.TrimSpace(text) == "" {
		return "", nil
	}
	for rest := text; rest != ""; {
		one := rest
		if i := endOfMatcher(rest); i >= 0 {
			one, rest = rest[:i], rest[i+1:]
		} else {
			rest = ""
		}
		if !matcher.Get().MatchString(one) {
			return "", fmt.Errorf(`match takes matchers of labels, such as match={job="gpu"}, not %q`, sampler.Clip(text))
		}
	}
	return text, nil
}

// endOfMatcher is the place of the first comma outside of quotes; -1: there is none.
func endOfMatcher(text string) int {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			quoted = !quoted
		case ',':
			if !quoted {
				return i
			}
		}
	}
	return -1
}

// Source is what was asked for, for people.
func (s *Spec) Source() string {
	switch s.Kind {
	case SSH:
		return "ssh://" + s.destination() + s.port()
	case Prometheus:
		_, rest, _ := strings.Cut(s.URL, "://")
		return "prometheus://" + sampler.Clean(rest)
	}
	return sampler.Clean(s.URL)
}

// destination is [user@]host.
func (s *Spec) destination() string {
	if s.User != "" {
		return s.User + "@" + s.Host
	}
	return s.Host
}

func (s *Spec) port() string {
	if s.Port == 0 {
		return ""
	}
	return ":" + strconv.Itoa(s.Port)
}

// title is what a host is called before it says a name of its own; full tells it from others at the same address.
func (s *Spec) title() (short, full string) {
	switch {
	case s.Name != "":
		return sampler.Clip(s.Name), sampler.Clip(s.Name)
	case s.Kind == SSH:
		return s.Host, s.destination() + s.port()
	}
	if u, err := url.Parse(s.URL); err == nil {
		return sampler.Clip(u.Hostname()), sampler.Clip(u.Host)
	}
	return sampler.Clip(s.URL), sampler.Clip(s.URL)
}
