package fleet

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for source, want := range map[string][]Spec{
		"ssh://box7":                                     {{Kind: SSH, Host: "box7"}},
		"ssh://ann@box7:2222,box8,[::1]":                 {{Kind: SSH, Host: "box7", User: "ann", Port: 2222}, {Kind: SSH, Host: "box8"}, {Kind: SSH, Host: "::1"}},
		"ssh://[fe80::1]:22/":                            {{Kind: SSH, Host: "fe80::1", Port: 22}},
		"http://box7:9835":                               {{Kind: Page, URL: "http://box7:9835/metrics"}},
		"https://box7/dcgm?x=1#y":                        {{Kind: Page, URL: "https://box7/dcgm?x=1"}},
		"prometheus://prom":                              {{Kind: Prometheus, URL: "http://prom:9090"}},
		"prometheus://prom/prefix/":                      {{Kind: Prometheus, URL: "http://prom:9090/prefix"}},
		"prometheus://prom?tls=1":                        {{Kind: Prometheus, URL: "https://prom"}},
		"prometheus+https://prom:1/":                     {{Kind: Prometheus, URL: "https://prom:1"}},
		`prometheus://prom?match={job="a",b=~"c,\"d.*"}`: {{Kind: Prometheus, URL: "http://prom:9090", Match: `job="a",b=~"c,\"d.*"`}},
	} {
		got, err := Parse(source)
		if err != nil || len(got) != len(want) {
			t.Errorf("%s: %v %+v", source, err, got)
			continue
		}
		for i := range got {
			if !got[i].same(&want[i]) {
				t.Errorf("%s: %+v, want %+v", source, got[i], want[i])
			}
		}
	}
}

// A mistake is one line that says what to write. Nothing that ssh or a shell would read as more than a name goes through.
func TestParseMistakes(t *testing.T) {
	for source, says := range map[string]string{
		"": "is no source", "box7": "ssh://", "ftp://box7": "there are no sources ftp://", "ssh://": "is no host", "ssh://a,,b": "is no host",
		"ssh://-oProxyCommand=x": "is no host", "ssh://a b": "is no host", "ssh://$(x)": "is no host", "ssh://a'b": "is no host", "ssh://a/path": "takes no path",
		"ssh://-l@box": "is no user", "ssh://a:secret@box": "ssh-copy-id box", "ssh://box:0": "is no host and port", "ssh://box:99999": "is no host and port", "ssh://[::1": "is no host",
		"http://": "is no address", "http://u:secret@box": "password-file", "prometheus://u@prom": "password-file", "prometheus://prom?matches=x": "there is no \"matches\"",
		"prometheus://prom?match=up": "takes matchers", `prometheus://prom?match={a="b"`: "no } at its end", `prometheus://prom?match=a="b"}`: "takes matchers", `prometheus://prom?match={a="b"}) or vector(1)`: "no } at its end", `prometheus://prom?match={a="b`: "no } at its end",
		"http://[::1\x1b]": "is no address",
	} {
		list, err := Parse(source)
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "secret") || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%q: %v %+v", source, err, list)
		}
	}
}

// The line for the login shell of another machine holds nothing that a shell of any family reads within single quotes.
func TestRemoteCommand(t *testing.T) {
	o := Options{Interval: 1500e6, PeakInterval: 20e6, GPUs: []string{"0", "GPU-1a"}}
	for _, smi := range []bool{false, true} {
		line := remoteCommand(&Spec{Program: "/opt/nvpeak"}, &o, smi)
		inner, ok := strings.CutPrefix(line, "exec sh -c '")
		inner, ok2 := strings.CutSuffix(inner, "'")
		if !ok || !ok2 || strings.ContainsAny(inner, "'\n") || strings.Contains(strings.ReplaceAll(inner, "$! ", ""), "!") {
			t.Errorf("%s", line)
		}
		if has := strings.Contains(line, "exec /opt/nvpeak stream --interval=1.5s --peak-interval=20ms --gpu=0,GPU-1a;"); has == smi {
			t.Errorf("smi %v: %s", smi, line)
		}
		if strings.Count(line, "nvidia-smi -i 0,GPU-1a ") != 2 || !strings.Contains(line, "sleep 2 ") {
			t.Errorf("%s", line)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"ssh://ann@box7:22,box8", "http://box:1/m", `prometheus://p?match={a="b"}&tls=1`, "ssh://[::1]:2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		list, err := Parse(source)
		if err != nil {
			return
		}
		for i := range list {
			s := &list[i]
			short, full := s.title()
			if s.Kind == SSH && (strings.HasPrefix(s.destination(), "-") || strings.ContainsAny(s.destination(), " \n'\"$`\\;|&<>()")) || short == "" || full == "" ||
				strings.ContainsAny(s.Source()+short+full, "\x1b\n") {
				t.Errorf("%q: %+v", source, s)
			}
		}
	})
}
