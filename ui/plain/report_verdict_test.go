package plain

import (
	"regexp"
	"strings"
	"testing"

	"nvpeak/advice/report"
	"nvpeak/sampler"
)

// The conclusion of a report without failures agrees with its figures, on the page and in the text: the
// color of a good end stands only beside enough free memory, and not above seconds.
func TestQuietVerdict(t *testing.T) {
	gib, none := func(v float64) sampler.Opt[sampler.Bytes] {
		return sampler.Some(sampler.Bytes(v * float64(sampler.GiB)))
	}, sampler.Opt[sampler.Bytes]{}
	notice := []sampler.Alert{{Level: sampler.LevelNotice, Text: "grows"}}
	for _, row := range []struct {
		seconds      float64
		free         []sampler.Opt[sampler.Bytes] // of GPUs of 48 GiB
		alerts       []sampler.Alert
		mood, en, zh string
	}{
		{600, []sampler.Opt[sampler.Bytes]{gib(40), gib(5.5)}, nil, "good", "No problems found; at worst 5.5 GiB was free on GPU 1.", "未发现问题；GPU 1 最少时空闲 5.5 GiB。"},
		{600, []sampler.Opt[sampler.Bytes]{gib(0.25), gib(5.5)}, nil, "warn", "No failure, but the memory was nearly full; at worst 256 MiB was free on GPU 0.", "没有失败，但显存几乎用满；GPU 0 最少时空闲 256 MiB。"},
		{25, []sampler.Opt[sampler.Bytes]{gib(0.25)}, nil, "warn", "Too short to judge; at worst 256 MiB was free on GPU 0.", "录制时间太短，无法判断；GPU 0 最少时空闲 256 MiB。"},
		{25, []sampler.Opt[sampler.Bytes]{gib(40)}, nil, "", "Too short to judge; at worst 40.0 GiB was free on GPU 0.", "录制时间太短，无法判断；GPU 0 最少时空闲 40.0 GiB。"},
		{600, []sampler.Opt[sampler.Bytes]{gib(9)}, notice, "", "No failure and no warning, 1 notice, see below; at worst 9.0 GiB was free on GPU 0.", "没有失败，也没有警告，有 1 "},
		{600, []sampler.Opt[sampler.Bytes]{none}, nil, "", "No failure and no warning; how much was free is unknown.", "没有失败，也没有警告；空闲显存未知。"},
	} {
		r := report.Report{Duration: row.seconds, Interval: 1, Snapshots: 9, Alerts: row.alerts}
		for i, free := range row.free {
			r.GPUs = append(r.GPUs, report.GPU{Index: i, Label: string(rune('0' + i)), Total: gib(48), WorstFree: free})
		}
		for lang, want := range map[string]string{"en": row.en, "zh": row.zh} {
			r.Lang = lang
			var text, page strings.Builder
			if err := ReportText(&text, r, ReportOptions{Options: Options{Width: 120}}); err != nil || !strings.Contains(text.String(), want) {
				t.Errorf("%v, want %q in\n%s", err, want, text.String())
			}
			if err := ReportHTML(&page, []report.Report{r}); err != nil {
				t.Fatal(err)
			}
			m := regexp.MustCompile(`<section(?: class="(\w*)")?><p class="headline">([^<]*)`).FindStringSubmatch(page.String())
			if m == nil || m[1] != row.mood || !strings.Contains(m[2], want) {
				t.Errorf("page %q, want %q, %q", m, row.mood, want)
			}
			if good, red := strings.Contains(page.String(), `class="good"`), strings.Contains(page.String(), `class="tile low"`); good && red {
				t.Errorf("%q is green above a red figure", want)
			}
		}
	}
}

// Nothing lasts 0 ms: what came and went between two snapshots took less than the time between them, and
// a single snapshot has no length.
func TestNothingLastsNoTime(t *testing.T) {
	for _, row := range []struct {
		lang           string
		span, interval float64
		lasted, unseen float64
		want           string
	}{{"en", 300, 1, 0, 0, "< 1 s"}, {"en", 300, 0.1, 0, 0, "< 100 ms"}, {"zh", 300, 1, 0, 0, "不到 1 秒"}, {"en", 0, 0, 0, 0, "N/A"},
		{"en", 300, 1, 24, 22, "2 s to 24 s"}, {"zh", 300, 1, 24, 22, "2 秒到 24 秒"}, {"en", 300, 1, 24, 24, "< 24 s"}} {
		spikes := []report.Spike{{T: 5, Bytes: 9 * sampler.GiB, Peak: 20 * sampler.GiB, Duration: row.lasted, Unseen: row.unseen}}
		r := report.Report{Lang: row.lang, Duration: row.span, Interval: row.interval, Snapshots: 1, GPUs: []report.GPU{{Label: "0", Spikes: spikes, SpikeCount: 1}}}
		var text, page strings.Builder
		if err := ReportText(&text, r, ReportOptions{Options: Options{Width: 120}}); err != nil {
			t.Fatal(err)
		}
		if err := ReportHTML(&page, []report.Report{r}); err != nil {
			t.Fatal(err)
		}
		body, _, _ := strings.Cut(page.String(), "<script")
		for _, got := range []string{text.String(), strings.ReplaceAll(body, "&lt;", "<")} {
			if !strings.Contains(got, row.want) || strings.Contains(got, " 0 ms") || strings.Contains(got, " 0 毫秒") || strings.Contains(got, "，0") {
				t.Errorf("want %q, got\n%s", row.want, got)
			}
		}
	}
}

// The headline of a failure says when it was and of which process, as far as that is known, on the page and in the text.
func TestHeadlineNamesTheProcess(t *testing.T) {
	for want, failed := range map[string]*report.Failed{
		"It failed":          nil,
		"It failed, at 1:05": {T: 65},
		"It failed, at 1:05: pid 7, python train.py": {T: 65, PID: 7, Command: "python train.py"},
	} {
		r := report.Report{Headline: "It failed", Failed: failed, Causes: []sampler.Cause{{ID: "leak"}}}
		var text, page strings.Builder
		if err := ReportText(&text, r, ReportOptions{Options: Options{Width: 120}}); err != nil || !strings.Contains(text.String(), "\n"+want+"\n") {
			t.Errorf("%v, want %q in\n%s", err, want, text.String())
		}
		if err := ReportHTML(&page, []report.Report{r}); err != nil || !strings.Contains(page.String(), ">"+want+"<") {
			t.Errorf("%v, want %q on the page", err, want)
		}
	}
}
