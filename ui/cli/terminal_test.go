package cli

import (
	"strings"
	"testing"

	"github.com/creack/pty"
)

// A console and a locale that names other characters than those of UTF-8 have ASCII; no locale at all says nothing.
func TestASCIIOnly(t *testing.T) {
	for _, row := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"TERM": "linux", "LANG": "en_US.UTF-8"}, "TERM"}, {map[string]string{"TERM": "vt100"}, "TERM"},
		{map[string]string{"TERM": "xterm-256color"}, ""}, {map[string]string{"TERM": "screen"}, ""}, {map[string]string{"TERM": "tmux-256color", "LANG": ""}, ""},
		{map[string]string{"TERM": "xterm", "LC_ALL": "C"}, "LC_ALL"}, {map[string]string{"TERM": "xterm", "LANG": "POSIX"}, "LANG"},
		{map[string]string{"TERM": "xterm", "LANG": "C.UTF-8"}, ""}, {map[string]string{"TERM": "xterm", "LC_ALL": "en_US.utf8", "LANG": "C"}, ""},
		{map[string]string{"TERM": "xterm", "LC_CTYPE": "de_DE.ISO-8859-1"}, "LC_CTYPE"}, {map[string]string{"TERM": "xterm", "LC_CTYPE": "de_DE.ISO-8859-15@euro"}, "LC_CTYPE"},
		{map[string]string{"TERM": "xterm", "LANG": "de_DE"}, ""}, {map[string]string{"TERM": "xterm", "LANG": "zh_CN.UTF-8@cjk"}, ""}, {nil, ""},
	} {
		if got := asciiOnly(func(name string) string { return row.env[name] }); got != row.want {
			t.Errorf("%v: %q, want %q", row.env, got, row.want)
		}
	}
}

// A terminal that knows no more than lines has a width, to which tables and texts are fitted as on any other; it gets no colors.
func TestPlainTerminalHasWidth(t *testing.T) {
	master, tty, err := pty.Open()
	if err != nil {
		t.Skip(err)
	}
	defer master.Close()
	defer tty.Close()
	if err := pty.Setsize(tty, &pty.Winsize{Cols: 61, Rows: 20}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"dumb", "xterm"} {
		a := &app{out: tty, env: func(string) string { return name }}
		if text, table := a.textOptions(), a.tableOptions(); text.Width != 61 || table.Width != 61 || text.Color != (name == "xterm") {
			t.Errorf("%s: %+v, %+v", name, text, table)
		}
	}
	a := &app{out: &strings.Builder{}, env: func(string) string { return "dumb" }}
	if text, table := a.textOptions(), a.tableOptions(); text.Width != 100 || table.Width != 0 {
		t.Errorf("no terminal: %+v, %+v", text, table)
	}
}

// Until a terminal answers, its background is what COLORFGBG says.
func TestBackgroundOfEnvironment(t *testing.T) {
	for value, light := range map[string]bool{"0;15": true, "15;0": false, "": false, "0;default;15": true, "7;default": false, "0;7": true, "15;8": false} {
		a := &app{env: func(name string) string { return map[string]string{"COLORFGBG": value}[name] }}
		if o := a.screenOptions(""); o.Light != light {
			t.Errorf("%q: light is %v", value, o.Light)
		}
	}
}
