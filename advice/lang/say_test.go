package lang

import (
	"strings"
	"testing"
)

var sentences = Catalog{"xx", map[string]string{"a": "{n} of {all}, {n}", "b": "odd { and {n", "c": "plain"}}

func TestSayFillsPlaces(t *testing.T) {
	for _, row := range []struct {
		id    string
		pairs []any
		want  string
	}{
		{"a", []any{"all", "9", "n", 3}, "3 of 9, 3"},
		{"a", []any{"n", "{all}", "all", 1}, "{all} of 1, {all}"},
		{"a", []any{"all", 9}, "{n} of 9, {n}"},
		{"a", []any{"all", 9, "n"}, "{n} of 9, {n}"},
		{"a", nil, "{n} of {all}, {n}"},
		{"b", []any{"n", 1}, "odd { and {n"},
		{"c", []any{"n", 1}, "plain"},
		{"unknown", []any{"n", 1}, "unknown"},
	} {
		if got := sentences.Say(row.id, row.pairs...); got != row.want {
			t.Errorf("%s with %v: %q, want %q", row.id, row.pairs, got, row.want)
		}
	}
	if !sentences.Has("c") || sentences.Has("unknown") {
		t.Error("Has does not tell known ids from unknown ones")
	}
}

// In Chinese a blank beside a value is for Latin letters and numbers, and in English it stays whatever the value is.
func TestBlanksBesideValues(t *testing.T) {
	c := Catalog{"xx", map[string]string{"a": "约 {n} 后", "b": "{who} 在 {n} 时", "c": "{a} {n}", "en": "in {n} or so"}}
	for _, row := range []struct{ id, value, want string }{
		{"a", "40s", "约 40s 后"}, {"a", "40 秒", "约 40 秒后"}, {"a", "一次", "约一次后"}, {"a", "（n）", "约（n）后"}, {"en", "一次", "in 一次 or so"}, {"a", "", "约  后"},
	} {
		if got := c.Say(row.id, "n", row.value); got != row.want {
			t.Errorf("%s with %q: %q, want %q", row.id, row.value, got, row.want)
		}
	}
	if got, want := c.Say("b", "who", "进程 7（python）", "n", "显存"), "进程 7（python）在显存时"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := c.Say("c", "a", "60 秒", "n", "一次"), "60 秒一次"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	zh := For("zh")
	if got, want := zh.Say("alert.oom.again", "times", zh.Say("times.many", "n", 8)), "；该程序已 8 次这样结束"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Both sides of every threshold between two words or units.
func TestWordsForNumbers(t *testing.T) {
	en := English()
	for name, row := range map[string]struct {
		say  func(float64) string
		want map[float64]string
	}{
		"confidence": {en.Confidence, map[float64]string{0.9: en.Say("sure.high"), 0.89: en.Say("sure.likely"), 0.6: en.Say("sure.likely"),
			0.59: en.Say("sure.possible"), 0.4: en.Say("sure.possible"), 0.39: en.Say("sure.weak")}},
		"span": {en.Span, map[float64]string{-1: "0 s", 89.4: "89 s", 90: "2 min", 5399: "90 min", 5400: "1.5 h",
			48*3600 - 1: "48.0 h", 48 * 3600: "2.0 days"}},
		"lasted": {en.Lasted, map[float64]string{0.02: "20 ms", 0.9994: "999 ms", 0.9995: "1 s", 1.5: "1.5 s", 3: "3 s",
			9.96: "10 s", 10: "10 s", 10.5: "10 s", 120: "2 min"}},
		"count": {func(n float64) string { return en.Count("count.gpu", int(n)) }, map[float64]string{0: "0 GPUs", 1: "1 GPU", 2: "2 GPUs"}},
	} {
		for n, want := range row.want {
			if got := row.say(n); got != want {
				t.Errorf("%s of %v: %q, want %q", name, n, got, want)
			}
		}
	}
}

func TestSpans(t *testing.T) {
	for want, row := range map[string][2]float64{"4 to 5 min": {240, 300}, "50 s to 2 min": {50, 120}, "4 min": {238, 242}, "89 s to 2 min": {89, 90}} {
		if got := English().Spans(row[0], row[1]); got != want {
			t.Errorf("%v: %q, want %q", row, got, want)
		}
	}
}

// What nvpeak says of an error stands in the place of its text; the driver's own words stay around it.
func TestReason(t *testing.T) {
	for _, r := range reasons {
		for _, c := range languages {
			if got, want := c.Reason("GPU 3: "+r.text+" (15)"), "GPU 3: "+c.Say(r.id)+" (15)"; got != want {
				t.Errorf("%s: %q, want %q", c.Lang, got, want)
			}
		}
	}
	if text := "something else"; English().Reason(text) != text {
		t.Error("a text without a known error is changed")
	}
}

func TestNames(t *testing.T) {
	if got := strings.Join(Names(), " "); got != "en zh" {
		t.Error(got)
	}
	if For("xx").Lang != "en" || For("zh").Lang != "zh" || English().Lang != "en" {
		t.Error("For does not find a language, or English for what is none")
	}
}
