package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nvpeak/sampler/fleet"
)

func TestSplitSources(t *testing.T) {
	for text, want := range map[string][]string{
		"ssh://a": {"ssh://a"}, "ssh://a,b": {"ssh://a,b"}, "ssh://a,b,http://c:1,hosts.toml": {"ssh://a,b", "http://c:1", "hosts.toml"},
		" ssh://a  prometheus://b?match={x=\"1\",y=\"2\"} ": {"ssh://a", `prometheus://b?match={x="1",y="2"}`}, "./x,y.toml": {"./x", "y.toml"}, "": nil,
	} {
		if got := splitSources(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	var s sourcesFlag
	for _, text := range []string{"ssh://a", "ssh://b,c hosts.toml"} {
		if err := s.Set(text); err != nil {
			t.Fatal(err)
		}
	}
	if s.String() != "ssh://a ssh://b,c hosts.toml" {
		t.Errorf("%q", s)
	}
	if err := s.Set("box"); err == nil || len(s) != 3 {
		t.Error(err, s)
	}
	if err := s.Set(noSources); err != nil || s != nil {
		t.Error(err, s)
	}
}

func TestHostsFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "hosts.toml")
	if err := os.WriteFile(name, []byte(`sources = ["ssh://a,b", "http://c:1"]
[box7]
user = "ann"
port = 2222
ssh = "ssh -J  gateway"
nvpeak = "/opt/nvpeak"
[gpu.example.com]
[cluster]
source = "prometheus://p?tls=1"
match = '{a="b"}'
bearer-file = "/t"
ca-file = "/c"
[page]
source = "https://d/m"
user = "x"
password-file = "/p"
`), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := specsOf(name)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, s := range got {
		all = append(all, strings.Join([]string{string(s.Kind), s.Name, s.Host, s.User, s.URL, s.Match, strings.Join(s.Command, "+"), s.Program, s.PasswordFile, s.BearerFile, s.CAFile}, "|"))
	}
	want := []string{"ssh||a||||||||", "ssh||b||||||||", "http||||http://c:1/metrics||||||", "ssh|box7|box7|ann|||ssh+-J+gateway|/opt/nvpeak|||",
		"prometheus||||https://p|a=\"b\"||||/t|/c", "http|page||x|https://d/m||||/p||"}
	if !slices.Equal(all, want) || got[3].Port != 2222 {
		t.Errorf("%q, want %q", all, want)
	}
}

// What the command line wants of this machine goes before other machines that the environment names; beside --from it is refused.
func TestRemote(t *testing.T) {
	for _, row := range []struct {
		args, env string
		want      bool
		refused   bool
	}{
		{"once", "", false, false}, {"once --from ssh://a", "", true, false}, {"once", "ssh://a", true, false}, {"once --demo", "ssh://a", false, false}, {"once --from none", "ssh://a", false, false},
		{"once --from ssh://a --demo", "", true, true},
	} {
		a := silent()
		a.env = func(name string) string {
			if name == "NVPEAK_FROM" {
				return row.env
			}
			return ""
		}
		c, flags, err := a.root().Find(strings.Fields(row.args))
		if err == nil {
			err = c.ParseFlags(joined(flags))
		}
		if err == nil {
			err = a.read(c.Flags())
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := a.remote(); got != row.want || row.want && (a.elsewhere() != nil) != row.refused {
			t.Errorf("%+v: %v, %v", row, got, a.elsewhere())
		}
	}
}

func TestHostFiles(t *testing.T) {
	r := &fleetRecorder{of: map[string]*recorder{}}
	for _, host := range []string{"box7", "ann@box7", "../../etc/passwd", "", "-rf", "a/b", "a b", "你", "CON"} {
		name := r.fileName(host)
		if name == "" || strings.ContainsAny(name, "/ \\") || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "-") {
			t.Errorf("%q: %q", host, name)
		}
		r.names = append(r.names, host)
		r.of[host] = &recorder{path: filepath.Join("d", name+".jsonl.zst")}
	}
	if a, b := filepath.Base(r.of["a/b"].path), filepath.Base(r.of["a b"].path); a == b {
		t.Errorf("two hosts in %s", a)
	}
}

// A state is told when it changes, and not when only the time of the last figures does.
func TestRoster(t *testing.T) {
	var r roster
	host := func(state fleet.State, reason string) fleet.Update {
		return fleet.Update{Hosts: []*fleet.Host{{Name: "a", State: state, Reason: reason}, {Name: "b", State: fleet.OK}}}
	}
	for i, row := range []struct {
		u    fleet.Update
		want int
	}{{host(fleet.Connecting, ""), 2}, {host(fleet.Connecting, ""), 0}, {fleet.Update{}, 0}, {host(fleet.Lost, "x"), 1}, {host(fleet.Lost, "y"), 1}, {host(fleet.Lost, "y"), 0}} {
		if got := r.take(row.u); len(got) != row.want {
			t.Errorf("%d: %d are news", i, len(got))
		}
	}
}
