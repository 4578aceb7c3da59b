package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

// Everything that the binary says it was built from is named, with its license.
func TestNotices(t *testing.T) {
	t.Chdir("../..")
	var out bytes.Buffer
	if err := run(&out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	list, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := strings.Fields(string(list))
	if len(modules) < 40 {
		t.Fatalf("modules: %q", modules)
	}
	for i := 0; i < len(modules); i += 2 {
		if !strings.Contains(text, "\n"+modules[i]+" "+modules[i+1]) {
			t.Errorf("no license of %s", modules[i])
		}
	}
	for _, want := range []string{"\nGo go1.", "\nuPlot (uPlot.LICENSE)", "The Go Authors", "Leon Sorokin", "Apache License", "compress v1.20.3/zstd/internal/xxhash"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
}

func TestLegal(t *testing.T) {
	for name, want := range map[string]bool{"LICENSE": true, "LICENSE.txt": true, "license.md": true, "NOTICE": true, "license.go": false, "README.md": false} {
		if legal(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
