package fleet

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// Pages that call their machines the same are called by their addresses, whichever answers first; a name that one alone says is its own. One that does not
// answer is not waited for.
func TestPagesOfOneName(t *testing.T) {
	page := func(name string, after time.Duration) string {
		return serve(t, func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-time.After(after):
			case <-r.Context().Done():
			}
			io.WriteString(w, "nvpeak_info{hostname=\""+name+"\"} 1\nnvpeak_gpu_memory_total_bytes{gpu=\"0\",uuid=\"GPU-1\",mig=\"\"} 8e10\nnvpeak_gpu_memory_used_bytes{gpu=\"0\",uuid=\"GPU-1\",mig=\"\"} 1e10\n") //nolint:errcheck // the test reads it
		}).URL + "/metrics"
	}
	for _, slow := range []int{0, 1} {
		urls := []string{page("vm", 0), page("vm", 0), page("box7", 0)}
		if slow > 0 {
			urls[0] = page("vm", 150*time.Millisecond)
			urls = append(urls, page("late", time.Hour))
		}
		var specs []Spec
		var addresses []string
		for _, u := range urls {
			specs = append(specs, Spec{Kind: Page, URL: u})
			addresses = append(addresses, strings.TrimSuffix(strings.TrimPrefix(u, "http://"), "/metrics"))
		}
		f, err := Open(t.Context(), specs, Options{Interval: 100 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for len(seen) < 3 {
			u, err := f.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range u.Snapshots {
				seen[s.Host] = true
			}
		}
		if seen["vm"] || !seen["box7"] || !slices.ContainsFunc(addresses[:2], func(a string) bool { return seen[a] }) {
			t.Error(fmt.Sprint(seen), addresses)
		}
		f.Close(10 * time.Second)
	}
}
