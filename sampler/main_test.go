package sampler

import (
	"flag"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		f.Value.Set("8") //nolint:errcheck // the tests mostly wait, so more than one a core
	}
	os.Exit(m.Run())
}
