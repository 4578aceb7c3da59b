package oomlog

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// A file that was renamed away is read on until another one stands in its place: who writes it may still have it open.
func TestReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "train.log")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("one\n")
	f := &tail{ctx: context.Background(), path: path}
	if !f.open() {
		t.Fatal("it cannot be opened")
	}
	defer f.close()
	f.offset = 4
	for _, row := range []struct {
		what   string
		change func()
		want   bool
	}{
		{"as it was", func() {}, false},
		{"longer", func() { write("one\ntwo\n") }, false},
		{"shorter than what was read", func() { write("one") }, true},
		{"as long as what was read", func() { write("four") }, false},
		{"renamed away", func() { os.Rename(path, path+".1") }, false},
		{"another one", func() { write("one\n") }, true},
	} {
		if row.change(); f.replaced() != row.want {
			t.Errorf("%s: replaced %v", row.what, !row.want)
		}
	}
}
