package post

import (
	"regexp"
	"testing"
)

// An exit code is a signal, and a number of an error of some library is none.
func TestSignaled(t *testing.T) {
	words := regexp.MustCompile(`(?i)` + signaled)
	for text, is := range map[string]bool{
		"it caused exited -9 ;":                        true,
		"exits with return code = -9":                  true,
		"the workers end with exitcode: -9":            true,
		"the job stopped with exit code -9":            true,
		"cl::Error with error code: -9":                false,
		"the function returns -9 for this input":       false,
		"I ended it with kill -9":                      false,
		"exit code -95":                                false,
		"process finished with exit code 1, see -9 on": false,
	} {
		if words.MatchString(text) != is {
			t.Errorf("%q: not %v", text, is)
		}
	}
}
