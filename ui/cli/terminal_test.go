package cli

import "testing"

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
