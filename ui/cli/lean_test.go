package cli

import (
	"runtime"
	"testing"
	"time"
)

func TestGarbagePercent(t *testing.T) {
	for live, want := range map[uint64]int{0: 100, littleHeap: 100, littleHeap + 1: 50, 1 << 40: 50} {
		if got := garbagePercent(live); got != want {
			t.Errorf("with %d bytes alive garbage may be %d %%, want %d", live, got, want)
		}
	}
}

func TestAfterCollection(t *testing.T) {
	calls := make(chan struct{}, 1)
	afterCollection(func() {
		select {
		case calls <- struct{}{}:
		default:
		}
	})
	for i := range 3 {
		runtime.GC()
		select {
		case <-calls:
		case <-time.After(10 * time.Second):
			t.Fatalf("collection %d calls nobody", i+1)
		}
	}
}
