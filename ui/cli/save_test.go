package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nvpeak/ui"
)

// What the setup window saves is what the next start reads.
func TestSavedSettingsAreRead(t *testing.T) {
	dir := t.TempDir()
	env := map[string]string{"XDG_CONFIG_HOME": dir, "LANG": "C"}
	a := &app{env: func(name string) string { return env[name] }}
	c := monitorCommand(a)
	if err := a.read(c.Flags()); err != nil {
		t.Fatal(err)
	}
	values := map[string]string{"theme": "light", "plot": "line", "span": "1h", "sort": "-peak", "need": "20G", "notify": "bell,desktop", "gpu-levels": "60,70,80", "host-levels": "50,60,70", "columns": "pid,mem,command"}
	var list []ui.Setting
	for name, value := range values {
		list = append(list, ui.Setting{Name: name, Value: value})
	}
	where, err := a.saver()(list)
	if err != nil || where != filepath.Join(dir, "nvpeak", "config.toml") {
		t.Fatal(where, err)
	}
	again := &app{env: a.env}
	flags := monitorCommand(again).Flags()
	if err := again.read(flags); err != nil || len(again.set.notes) > 0 {
		text, _ := os.ReadFile(where)
		t.Fatalf("%v %q\n%s", err, again.set.notes, text)
	}
	for _, row := range again.opt.table() {
		want, ok := values[row.flag]
		if want == "20G" {
			want = "20.0 GiB"
		}
		if got := row.value.String(); ok && (got != want || again.set.origins[row.flag].how != fromFile) {
			t.Errorf("%s: %q, want %q", row.flag, got, want)
		}
	}
	if _, err := again.saver()([]ui.Setting{{Name: "need"}}); err != nil {
		t.Error(err)
	}
	if text, _ := os.ReadFile(where); strings.Contains(string(text), "need") || !strings.Contains(string(text), "light") {
		t.Errorf("%s", text)
	}
}
