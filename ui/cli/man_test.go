package cli

import (
	"strings"
	"testing"
)

// Every command has a page, with each of its options, and no line of it is an order by accident.
func TestMan(t *testing.T) {
	pages := Man("1.2.3", "2026-11-23")
	root := silent().root()
	for _, c := range root.Commands() {
		if c.Name() == "help" {
			continue
		}
		page := pages["nvpeak-"+c.Name()+".1"]
		for _, name := range flagNames(c) {
			if !strings.Contains(page, `\-\-`+strings.ReplaceAll(name, "-", `\-`)) {
				t.Errorf("%s does not name --%s", c.Name(), name)
			}
		}
		if !strings.Contains(pages["nvpeak.1"], ".B "+c.Name()+"\n") {
			t.Errorf("nvpeak.1 does not name %s", c.Name())
		}
	}
	macros := ".TH .SH .SS .TP .B .BR .I .PP .br .nf .fi"
	for name, page := range pages {
		if !strings.HasPrefix(page, ".TH \"NVPEAK") || !strings.Contains(page, "nvpeak 1.2.3") {
			t.Errorf("%s: %.80s", name, page)
		}
		for _, line := range strings.Split(page, "\n") {
			word, _, _ := strings.Cut(line, " ")
			if strings.HasPrefix(line, ".") && !strings.Contains(macros+" ", word+" ") || strings.HasPrefix(line, "'") {
				t.Errorf("%s: %q", name, line)
			}
		}
	}
	if got := roff(".x 'a' -b\\c\n'd"); got != `\&.x \(aqa\(aq \-b\ec`+"\n"+`\(aqd` {
		t.Errorf("%s", got)
	}
}
