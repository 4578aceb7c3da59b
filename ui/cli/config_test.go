package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nvpeak/advice/watch"
)

// configured runs nvpeak with a settings file and variables.
func configured(t *testing.T, file string, env map[string]string, args ...string) (out, errs string, code int) {
	t.Helper()
	dir := t.TempDir()
	if file != "" {
		if err := os.MkdirAll(filepath.Join(dir, "nvpeak", "themes"), 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"config.toml": file, "themes/mine.toml": "base = \"light\"\n"} {
			if err := os.WriteFile(filepath.Join(dir, "nvpeak", name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	var o, e bytes.Buffer
	a := silent()
	a.out, a.err, a.env = &o, &e, func(name string) string {
		if name == "XDG_CONFIG_HOME" {
			return dir
		}
		return env[name]
	}
	code = a.run(context.Background(), args)
	return o.String(), strings.ReplaceAll(e.String(), dir, "DIR"), code
}

// A flag wins over the environment, that over the file, and config says which it was.
func TestConfigOrigins(t *testing.T) {
	file := "interval = \"2s\"\nplot = \"line\"\nlang = \"en\"\nascii = true\ngpu = [0, 1]\nnotify = \"bell\"\ntheme = \"mine\"\ndemo = true\n"
	out, errs, code := configured(t, file, map[string]string{"NVPEAK_PLOT": "area", "NVPEAK_INTERVAL": "3s"}, "config", "--json", "--interval", "4s")
	var got struct {
		Found    bool
		Settings []setting
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || errs != "" || code != exitFine || !got.Found {
		t.Fatal(err, errs, code, out)
	}
	want := map[string][3]string{"interval": {"4s", fromFlag, "--interval"}, "plot": {"area", fromEnv, "NVPEAK_PLOT"}, "ascii": {"true", fromFile, ""}, "gpu": {"0,1", fromFile, ""},
		"notify": {"bell", fromFile, ""}, "theme": {"mine", fromFile, ""}, "demo": {"training", fromFile, ""}, "gpu-levels": {"80,90,95", fromDefault, ""}, "log": {"-", fromDefault, ""}}
	for _, s := range got.Settings {
		if w, ok := want[s.Name]; ok && (s.Value.Or("-") != w[0] || s.Origin != w[1] || w[2] != "" && s.From != w[2] || (s.Line > 0) != (w[1] == fromFile)) {
			t.Errorf("%+v, want %q", s, w)
		}
	}
	if len(got.Settings) != len(new(options).table())-1 {
		t.Errorf("%d settings", len(got.Settings))
	}
	out, _, _ = configured(t, file, map[string]string{"NVPEAK_LANG": "zh"}, "config")
	if !strings.Contains(out, "环境变量 NVPEAK_LANG") || !strings.Contains(out, "config.toml 第 1 行") {
		t.Errorf("%s", out)
	}
}

// A mistake is one line where it stands; the rest works, with the defaults in its place.
func TestConfigMistakes(t *testing.T) {
	for file, want := range map[string]string{
		"intervall = \"2s\"":              "line 1: there is no setting intervall: did you mean interval?",
		"[ui]\ntheme = \"dark\"":          "line 2: there is no setting ui.theme",
		"config = \"x\"":                  "line 1: there is no setting config",
		"interval = 5":                    "line 1: interval: \"5\" is not a duration",
		"\nascii = \"yes\"":               "line 2: ascii: it takes true or false, not a text",
		"record = 3":                      "", // explain takes no --record
		"nvml-lib = 3":                    "line 1: nvml-lib: it takes a text, not a number",
		"theme = 3":                       "line 1: theme: it takes a text, not a number",
		"theme = \"drak\"":                "line 1: theme: there is no theme \"drak\": did you mean dark?",
		"gpu-levels = [90, 80, 95]":       "line 1: gpu-levels: \"90,80,95\" is not three rising percentages",
		"gpu-levels = 80":                 "line 1: gpu-levels: ",
		"gpu = [0, \"\"]":                 "line 1: gpu: an empty GPU",
		"interval = \"2s\"\nneed = [":     "line 2: ",
		"interval = \"2s\"\ninterval = 1": "line 2: interval is set twice",
		"no TOML at all":                  "line 1: ",
		"theme = \"mine\"":                "",
	} {
		args, lines := []string{"config"}, 1
		if strings.HasPrefix(file, "record") {
			args = []string{"explain", "--json"}
		}
		out, errs, code := configured(t, file, nil, args...)
		if want == "" {
			lines = 0
		}
		if code != exitFine || len(args) == 1 && !strings.Contains(out, "interval ") || strings.Count(errs, "\n") != lines ||
			want != "" && !strings.HasPrefix(errs, "nvpeak: DIR/nvpeak/config.toml, "+want) {
			t.Errorf("%q: exit %d, %q, want %q\n%s", file, code, errs, want, out)
		}
	}
}

// What is written down for every nvpeak and cannot be used here is one line that names the place, and nothing else ends.
func TestSettingsOfNoUseHere(t *testing.T) {
	for file, want := range map[string]string{
		"\nnotify = [\"bell\", \"desktop\"]":     "line 2: --notify needs a terminal",
		"webhook = \"http://127.0.0.1:1/\"":      "line 1: the webhook is on a loopback",
		"webhook = \"ann:password@example.com\"": "line 1: webhook: it takes an http or https URL\n",
	} {
		out, errs, code := configured(t, file, nil, "record", "--demo", "-o", "-", "--for", "1s")
		if code != exitFine || !strings.Contains(out, "\"end\"") || !strings.HasPrefix(errs, "nvpeak: DIR/nvpeak/config.toml, "+want) || strings.Count(errs, "config.toml") != 1 {
			t.Errorf("%q: exit %d, %q", file, code, errs)
		}
	}
}

// Mistakes are told in the order of their lines.
func TestConfigMistakesInOrder(t *testing.T) {
	_, errs, _ := configured(t, "them = 1\nsort = \"x\"\nneed = 20\nnope = 1\ninterval = \"1ms\"\n", nil, "config")
	for i, line := range strings.Split(strings.TrimSpace(errs), "\n") {
		if !strings.Contains(line, fmt.Sprintf("line %d: ", i+1)) {
			t.Errorf("message %d: %q", i+1, line)
		}
	}
}

// A file that is named must be there; the usual one need not.
func TestConfigNamed(t *testing.T) {
	if _, errs, code := configured(t, "", nil, "config"); code != exitFine || errs != "" {
		t.Errorf("exit %d, %q", code, errs)
	}
	if _, errs, code := configured(t, "", nil, "config", "--config", "/nonexistent/x.toml"); code != exitUsage || !strings.Contains(errs, "/nonexistent/x.toml") {
		t.Errorf("exit %d, %q", code, errs)
	}
	if _, errs, code := configured(t, "", nil, "config", "--config", t.TempDir()); code != exitUsage || !strings.Contains(errs, "it is no file") {
		t.Errorf("a directory: exit %d, %q", code, errs)
	}
	name := filepath.Join(t.TempDir(), "other.toml")
	if err := os.WriteFile(name, []byte("lang = \"zh\""), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"config", "--config", name}, {"config"}} {
		out, errs, code := configured(t, "lang = \"en\"", map[string]string{"NVPEAK_CONFIG": name}, args...)
		if code != exitFine || errs != "" || !strings.Contains(out, "默认值") {
			t.Errorf("%q: exit %d, %q, %q", args, code, errs, out)
		}
	}
}

// Colors go by the levels that are set.
func TestConfigLevels(t *testing.T) {
	o := new(options)
	if err := (*levelsFlag)(&o.gpuLevels).Set("50, 60.5,100"); err != nil || o.gpuLevels != (levelsFlag{50, 60.5, 100}) {
		t.Error(err, o.gpuLevels)
	}
	for _, text := range []string{"", "1,2", "1,2,3,4", "80,80,90", "0,1,2", "1,2,101", "NaN,1,2", "a,b,c"} {
		if err := o.gpuLevels.Set(text); err == nil || o.gpuLevels != (levelsFlag{50, 60.5, 100}) {
			t.Errorf("%q: %v, %v", text, err, o.gpuLevels)
		}
	}
}

// Doctor tells of a variable with a theme that there is not.
func TestDoctorTheme(t *testing.T) {
	for name, works := range map[string]bool{"dark": true, "mine": true, "pink": false} {
		file := "lang = \"en\""
		out, _, _ := configured(t, file, map[string]string{"NVPEAK_THEME": name, "NVPEAK_NVML": "/nonexistent/libnvidia-ml.so.1"}, "doctor", "--json")
		if strings.Contains(out, "NVPEAK_THEME: there is no theme") == works {
			t.Errorf("%s: %s", name, out)
		}
	}
}

// Levels make alerts only where somebody has set them.
func TestLevelsMakeAlerts(t *testing.T) {
	a := silent()
	cmd := monitorCommand(a)
	for _, row := range []struct {
		args []string
		want watch.Levels
	}{
		{nil, watch.Levels{}},
		{[]string{"--host-levels", "50,60,70"}, watch.Levels{Host: [3]float64{50, 60, 70}}},
		{[]string{"--gpu-levels", "80,90,95"}, watch.Levels{GPU: [3]float64{80, 90, 95}, Host: [3]float64{50, 60, 70}}},
	} {
		if err := cmd.ParseFlags(row.args); err != nil {
			t.Fatal(err)
		}
		if err := a.read(cmd.Flags()); err != nil || a.levels() != row.want {
			t.Errorf("%q: %v, %+v", row.args, err, a.levels())
		}
	}
}

// A GPU of the settings file that is not there stops nothing: one that was lost would take its monitor with it.
// Recordings are of other machines, too.
func TestSettingsNameMissingGPU(t *testing.T) {
	for _, row := range []struct {
		file, args string
		gpus       int
		says       string
	}{
		{"gpu = [0, 77]", "once --json --demo", 1, "line 1: gpu: no such GPU: \"77\"; there are 0, 1, 2, 3 "},
		{"lang = \"en\"\ngpu = [77]", "once --json --demo", 4, "line 2: gpu: no such GPU: \"77\"; there are 0, 1, 2, 3 "},
		{"gpu = [77]", "once --json --demo -i 1", 1, ""},
	} {
		out, errs, code := configured(t, row.file, nil, strings.Fields(row.args)...)
		if n := strings.Count(out, "\"uuid\":"); code != exitFine || n != row.gpus || !strings.Contains(errs, row.says) || row.says == "" && errs != "" {
			t.Errorf("%q, %s: exit %d, %d GPUs, %q", row.file, row.args, code, n, errs)
		}
	}
}

// A theme that cannot be read is one line, of the theme's file.
func TestBrokenThemeFile(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"config.toml": "theme = \"torn\"\n", "themes/torn.toml": "base = \"dark\"\nx = [\n"} {
		file := filepath.Join(dir, "nvpeak", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var errs bytes.Buffer
	a := silent()
	a.err, a.env = &errs, func(s string) string { return map[string]string{"XDG_CONFIG_HOME": dir}[s] }
	if code := a.run(context.Background(), []string{"config"}); code != exitFine || strings.Count(errs.String(), "\n") != 1 || strings.Count(errs.String(), ", line ") != 1 || !strings.Contains(errs.String(), "torn.toml, line 2: ") {
		t.Errorf("exit %d: %s", code, errs.String())
	}
}
