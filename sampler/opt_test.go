package sampler

import (
	"encoding/json"
	"testing"
	"time"
)

func TestOptJSON(t *testing.T) {
	type box struct {
		Bytes Opt[Bytes]     `json:"bytes"`
		Int   Opt[int]       `json:"int"`
		Text  Opt[string]    `json:"text"`
		Float Opt[float64]   `json:"float"`
		Time  Opt[time.Time] `json:"time"`
		Range Opt[Range]     `json:"range"`
	}
	at := time.Date(2026, 11, 20, 14, 3, 22, 123e6, time.UTC)
	for _, row := range []struct {
		json string
		want box
	}{
		{`{"bytes":null,"int":null,"text":null,"float":null,"time":null,"range":null}`, box{}},
		{`{"bytes":0,"int":0,"text":"","float":0,"time":"2026-11-20T14:03:22.123Z","range":{"low":0,"high":0}}`,
			box{Some(Bytes(0)), Some(0), Some(""), Some(0.0), Some(at), Some(Range{})}},
		{`{"bytes":18446744073709551615,"int":-7,"text":"null","float":-0.5,"time":"2026-11-20T14:03:22.123Z","range":{"low":1,"high":2}}`,
			box{Some(^Bytes(0)), Some(-7), Some("null"), Some(-0.5), Some(at), Some(Range{1, 2})}},
	} {
		var got box
		if err := json.Unmarshal([]byte(row.json), &got); err != nil {
			t.Errorf("%s: %v", row.json, err)
			continue
		}
		if got != row.want {
			t.Errorf("%s read as %+v", row.json, got)
		}
		if back, err := json.Marshal(got); err != nil || string(back) != row.json {
			t.Errorf("%s came back as %s, %v", row.json, back, err)
		}
	}
}

func TestOptOfNothing(t *testing.T) {
	var missing struct {
		A Opt[int] `json:"a"`
	}
	if err := json.Unmarshal([]byte(`{}`), &missing); err != nil || missing.A.Known() {
		t.Errorf("a missing key reads as %v, %v", missing.A, err)
	}
	o := Some(5)
	if err := json.Unmarshal([]byte(" null "), &o); err != nil || o.Known() {
		t.Errorf("null over a value reads as %v, %v", o, err)
	}
	o = Some(5)
	if err := json.Unmarshal([]byte(`"x"`), &o); err == nil || o.Known() {
		t.Errorf("a text read as a number gives %v, %v: want an error and nothing known", o, err)
	}
}

func TestOptChoices(t *testing.T) {
	var none Opt[int]
	zero, two := Some(0), Some(2)
	if none.Or(7) != 7 || zero.Or(7) != 0 {
		t.Error("Or: a known 0 is a value")
	}
	if none.Else(two) != two || zero.Else(two) != zero || none.Else(none).Known() {
		t.Error("Else")
	}
	if !none.Equal(Opt[int]{}) || none.Equal(zero) || zero.Equal(two) || !two.Equal(Some(2)) {
		t.Error("Equal")
	}
}
