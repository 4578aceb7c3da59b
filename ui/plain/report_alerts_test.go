package plain

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"nvpeak/advice/report"
	"nvpeak/sampler"
)

// The same alert on four GPUs is one line of the text and one row of the page; an hour later it is another.
func TestReportGroupsAlerts(t *testing.T) {
	r := report.Report{Lang: "en", Duration: 7200, Snapshots: 7200, Interval: 1}
	for i := range 5 {
		a := sampler.Alert{T: float64(100 + i), End: sampler.Some(200.0), GPU: sampler.Some(i), Kind: sampler.AlertNeed, Level: sampler.LevelWarning,
			Text:    fmt.Sprintf("GPU %d: 20.0 GiB won't fit: only %d.0 GiB free at the last peak (%d.0 GiB short)", i, 3+i%2, 17-i%2),
			Numbers: map[string]float64{"short_bytes": float64(17-i%2) * float64(sampler.GiB)}}
		if i == 4 {
			a.T, a.End = 4000, sampler.Opt[float64]{}
		}
		r.Alerts = append(r.Alerts, a)
	}
	var text, page bytes.Buffer
	if err := ReportText(&text, r, ReportOptions{Options: Options{Width: 140}, Zone: time.UTC}); err != nil {
		t.Fatal(err)
	}
	if err := ReportHTML(&page, []report.Report{r}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"GPUs 0–3: 20.0 GiB won't fit", "(17.0 GiB short); figures of GPU", "GPU 4: 20.0 GiB won't fit"} {
		if strings.Count(text.String(), want) != 1 {
			t.Errorf("%q stands %d times in\n%s", want, strings.Count(text.String(), want), text.String())
		}
	}
	if n := strings.Count(page.String(), "0 GiB won&#39;t fit"); n != 2 {
		t.Errorf("%d rows of the page", n)
	}
}
