// Command notices prints the licenses of everything that is part of the nvpeak binary: the packages that it is
// built from, Go itself, and the files that a report's page holds. It is to be run in the root of nvpeak:
//
//	go run ./docs/notices >THIRD_PARTY_NOTICES
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

// notice is a license file and what it covers.
type notice struct{ of, file string }

func run(w io.Writer) error {
	list, err := notices()
	if err != nil {
		return err
	}
	fmt.Fprint(w, "nvpeak contains the following, each under its own license.\n")
	for _, n := range list {
		text, err := os.ReadFile(n.file)
		if err != nil {
			return err
		}
		rule := strings.Repeat("=", 80)
		fmt.Fprintf(w, "\n%s\n%s (%s)\n%s\n\n%s\n", rule, n.of, filepath.Base(n.file), rule, bytes.TrimSpace(text))
	}
	return nil
}

// notices lists all there are, without that of nvpeak itself.
func notices() ([]notice, error) {
	root, err := output("env", "GOROOT")
	if err != nil {
		return nil, err
	}
	packages, err := output("list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}\t{{$.Dir}}{{end}}{{end}}", ".")
	if err != nil {
		return nil, err
	}
	version, err := output("env", "GOVERSION")
	if err != nil {
		return nil, err
	}
	list := []notice{{"Go " + version, filepath.Join(root, "LICENSE")}}
	assets, err := filepath.Glob("ui/plain/assets/*.LICENSE")
	if err != nil {
		return nil, err
	}
	for _, file := range assets {
		list = append(list, notice{strings.TrimSuffix(filepath.Base(file), ".LICENSE"), file})
	}
	for line := range strings.Lines(packages) {
		module, dirs, _ := strings.Cut(strings.TrimSpace(line), "\t")
		top, dir, _ := strings.Cut(dirs, "\t")
		if module == "" {
			continue
		}
		found, err := upTo(module, top, dir)
		if err != nil {
			return nil, err
		}
		for _, n := range found {
			if !slices.Contains(list, n) {
				list = append(list, n)
			}
		}
	}
	return list, nil
}

// upTo finds the license files of a package: some parts of a module have their own.
func upTo(module, top, dir string) (list []notice, err error) {
	for {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.Type().IsRegular() && legal(e.Name()) {
				of := strings.TrimSuffix(module+"/"+strings.TrimPrefix(strings.TrimPrefix(dir, top), "/"), "/")
				list = append(list, notice{of, filepath.Join(dir, e.Name())})
			}
		}
		if dir == top || len(dir) < len(top) {
			break
		}
		dir = filepath.Dir(dir)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has no license file", module)
	}
	return list, nil
}

// legal says whether a file tells under which terms what is beside it may be used.
func legal(name string) bool {
	name = strings.ToUpper(name)
	if strings.HasSuffix(name, ".GO") {
		return false
	}
	for _, prefix := range []string{"LICENSE", "LICENCE", "COPYING", "NOTICE", "PATENTS", "UNLICENSE"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// output is what a command of Go prints.
func output(args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}
