package child

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// find is the path of a command, as a shell looks for it. The error is that of the best candidate.
func find(name, path string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil // starting it tells what is wrong with it
	}
	err := error(unix.ENOENT)
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, name)
		if dir == "" || dir == "." {
			file = "./" + name
		}
		info, statErr := os.Stat(file)
		switch {
		case name == "" || statErr != nil:
		case info.IsDir():
		case unix.Access(file, unix.X_OK) != nil:
			err = unix.EACCES
		default:
			return file, nil
		}
	}
	return "", err
}

// codeOf is the exit code of a command that cannot be started.
func codeOf(err error) int {
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
		return codeNotFound
	}
	return codeNotExecutable
}

// wordsOf says why a command cannot be started.
func wordsOf(name string, err error) string {
	why := err.Error()
	if errors.Is(err, unix.ENOENT) {
		why = "command not found"
		if _, statErr := os.Stat(name); strings.Contains(name, "/") {
			why = "no such file"
			if statErr == nil {
				why = "the interpreter of its first line is not there"
			}
		}
	}
	return "cannot run " + name + " (" + why + ")"
}
