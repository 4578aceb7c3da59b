package sampler

import (
	"os"
	"testing"
	"time"
)

// In a bubble of package synctest only Go's own waits and clock are fake.
func TestMain(m *testing.M) {
	sleep, sinceBoot = time.Sleep, goTime
	os.Exit(m.Run())
}
