package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nvpeak/advice/watch"
	"nvpeak/sampler"
	"nvpeak/sampler/fleet"
)

func TestSplitSources(t *testing.T) {
	for text, want := range map[string][]string{
		"ssh://a": {"ssh://a"}, "ssh://a,b": {"ssh://a,b"}, "ssh://a,b,http://c:1,hosts.toml": {"ssh://a,b", "http://c:1", "hosts.toml"},
		" ssh://a  prometheus://b?match={x=\"1\",y=\"2\"} ": {"ssh://a", `prometheus://b?match={x="1",y="2"}`}, "./x,y.toml": {"./x", "y.toml"}, "": nil,
		`prometheus://b?match={x="1", y="2"} ssh://a`: {`prometheus://b?match={x="1", y="2"}`, "ssh://a"},
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
	want := []string{"ssh||a||||||||", "ssh||b||||||||", "http||||http://c:1/metrics||||||", "ssh|box7|box7|ann|||ssh+-J+gateway|/opt/nvpeak|||", "ssh|gpu.example.com|gpu.example.com||||||||",
		"prometheus||||https://p|a=\"b\"||||/t|/c", "http|page||x|https://d/m||||/p||"}
	if !slices.Equal(all, want) || got[3].Port != 2222 {
		t.Errorf("%q, want %q", all, want)
	}
}

// Keys with dots and tables in braces are tables, too; a mistake in the name of one is said with its line.
func TestHostsFileForms(t *testing.T) {
	for text, want := range map[string]string{
		"box7 = { port = 5 }\nbox8.user = \"x\"\n": "box7:5 x@box8:0 ", "[\"10.0.0.7\"]\n": "10.0.0.7:0 ", "\n[\"a b\"]\n": "line 2", "\n\n[a]\nsource = \"x\"\n": "line 4", "\"a b\".port = 5\n": "line 1",
	} {
		name := filepath.Join(t.TempDir(), "hosts.toml")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		specs, err := specsOf(name)
		got := ""
		for _, s := range specs {
			if s.User != "" {
				got += s.User + "@"
			}
			got += fmt.Sprintf("%s:%d ", s.Host, s.Port)
		}
		if err != nil {
			got = err.Error()
		}
		if got != want && !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
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
	for _, host := range []string{"box7", "ann@box7", "../../etc/passwd", "", "-rf", "a/b", "a b", "你", "我", "CON"} {
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
	if a, b := filepath.Base(r.of["你"].path), filepath.Base(r.of["我"].path); a != "你.jsonl.zst" || b != "我.jsonl.zst" { // whichever came first
		t.Errorf("%s, %s", a, b)
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

// One host is named, and not counted.
func TestOneHostWithoutFigures(t *testing.T) {
	r := &roster{hosts: []*fleet.Host{{Name: "box7", State: fleet.Lost, Reason: "no route"}}}
	if err := silent().answerFleet(r, nil, &fitFlags{gpus: 1}); err == nil || err.Error() != "box7 gives no figures" {
		t.Error(err)
	}
	r.hosts = append(r.hosts, &fleet.Host{Name: "box8", State: fleet.Lost})
	if err := silent().answerFleet(r, nil, &fitFlags{gpus: 1}); err == nil || !strings.Contains(err.Error(), "2 of 2 hosts") {
		t.Error(err)
	}
}

// A host whose file is there already is left out, and the others are recorded.
func TestFleetRecordsTheOthers(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.jsonl.zst"), []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := silent()
	var said strings.Builder
	a.err = &said
	announcer, err := a.announcer()
	if err != nil {
		t.Fatal(err)
	}
	defer announcer.close()
	r := &fleetRecorder{app: a, flags: &recordFlags{out: dir}, many: true, announcer: announcer, of: map[string]*recorder{}, left: map[string]error{}}
	for i, host := range []string{"a", "b", "a", "b"} {
		s := &sampler.Snapshot{Type: "snapshot", Schema: 1, Time: time.Unix(int64(i), 0), Host: host, GPUs: []sampler.GPU{{UUID: "GPU-1"}}}
		if err := r.take(s); err != nil {
			r.leave(host, err)
		}
	}
	if err := r.finish(); err == nil || !strings.HasSuffix(err.Error(), ": a") || strings.Count(said.String(), "a is not recorded") != 1 {
		t.Errorf("%v, said %s", err, said.String())
	}
	if kept, err := os.ReadFile(filepath.Join(dir, "a.jsonl.zst")); err != nil || string(kept) != "kept" {
		t.Error("a file that was there has changed", err)
	}
	if b, err := os.Stat(filepath.Join(dir, "b.jsonl.zst")); err != nil || b.Size() < 50 {
		t.Error(b, err)
	}
	if err := (&fleetRecorder{app: silent(), left: map[string]error{}}).finish(); err == nil {
		t.Error("nothing was recorded, and that is no error")
	}
}

// A host whose figures never say what was between them is judged after the window all the same; one that tells no memory is unknown, with that reason.
func TestCheckWithoutWindows(t *testing.T) {
	host := &fleet.Host{Name: "a", Via: "nvpeak", State: fleet.OK}
	for known, says := range map[bool]string{true: "fits", false: "a: unknown, it does not tell how much of its memory is free"} {
		var out bytes.Buffer
		a, r := &app{out: &out}, &roster{hosts: []*fleet.Host{host}}
		h := &hostFit{host: "a", checker: watch.NewChecker(sampler.GiB), began: time.Unix(1000, 0), window: 3 * time.Second}
		for second := range 4 {
			g := sampler.GPU{UUID: "GPU-1"}
			if known {
				g.Memory = sampler.Memory{Total: sampler.Some(80 * sampler.GiB), Used: sampler.Some(10 * sampler.GiB), Free: sampler.Some(70 * sampler.GiB)}
			}
			s := &sampler.Snapshot{Host: "a", Time: h.began.Add(time.Duration(second) * time.Second), GPUs: []sampler.GPU{g}}
			if h.over {
				t.Errorf("over after %d s", second)
			}
			h.take(a, s, sampler.GiB, 1, r.begins(s))
		}
		fits := map[string]*hostFit{"a": h}
		if !r.judged(fits) {
			t.Error("it is looked at on")
		}
		if err := a.answerFleet(r, fits, &fitFlags{gpus: 1}); (err == nil) != known || !strings.Contains(out.String(), says) {
			t.Errorf("%v: %s", err, out.String())
		}
	}
}
