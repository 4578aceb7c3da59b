// Man writes the manual pages into a directory: go run ./docs/man DIRECTORY VERSION DATE
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"nvpeak/ui/cli"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: man DIRECTORY VERSION DATE")
		os.Exit(2)
	}
	for name, text := range cli.Man(os.Args[2], os.Args[3]) {
		if err := os.WriteFile(filepath.Join(os.Args[1], name), []byte(text), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, "man:", err)
			os.Exit(1)
		}
	}
}
