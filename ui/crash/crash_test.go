package crash

import (
	"runtime"
	"testing"
)

// What faults in Go's own code is a panic, as before.
func TestFaultsOfGo(t *testing.T) {
	Watch()
	Watch()
	for range 2 {
		func() {
			defer func() {
				if _, ok := recover().(runtime.Error); !ok {
					t.Error("there is no panic")
				}
			}()
			var nowhere *Terminal
			nowhere.known = true
		}()
	}
}
