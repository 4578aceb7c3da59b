package fleet

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
)

// full sets everything in a value that v points to: texts to one that a terminal would obey, times to noon.
func full(v reflect.Value, depth int) {
	if o := v.Addr().Interface(); depth > 12 {
		return
	} else if setter, ok := o.(*sampler.Opt[string]); ok {
		*setter = sampler.Some("\x1b[2J")
		return
	} else if t, ok := o.(*time.Time); ok {
		*t = noon
		return
	} else if t, ok := o.(*sampler.Opt[time.Time]); ok {
		*t = sampler.Some(noon)
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("\x1b[2J")
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		full(v.Elem(), depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		full(v.Index(0), depth+1)
	case reflect.Map:
		if v.Type() == reflect.TypeFor[map[string]string]() {
			v.Set(reflect.ValueOf(map[string]string{"\x1b": "\x1b"}))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				full(v.Field(i), depth+1)
			}
		}
	}
}

// No text of a snapshot is left as it came, wherever it is, and no time is one of the clock there.
func TestEverythingIsCleaned(t *testing.T) {
	var s sampler.Snapshot
	full(reflect.ValueOf(&s).Elem(), 0)
	cleanTexts(&s)
	here(&s, time.Hour)
	s.Alerts, s.Delivery = nil, nil // those of others are thrown away
	text, err := json.Marshal(&s)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), `\u001b`) || strings.Count(string(text), "?[2J") < 30 {
		t.Errorf("%s", text)
	}
	if strings.Contains(string(text), "2026-11-23T12") || strings.Count(string(text), "2026-11-23T11") < 8 {
		t.Errorf("%s", text)
	}
}

// A line is looked into only where it may hold something to clean.
func TestNeedsCleaning(t *testing.T) {
	for line, want := range map[string]bool{
		`{"a":"b"}`: false, `{"a":"\"\\\/"}`: false, `{"a":"\u001b"}`: true, `{"a":"\n"}`: true, `{"a":"你"}`: true, "{\"a\":\"\x7f\"}": true, `{"a":"\`: true,
		`{"a":"` + strings.Repeat("x", longest) + `"}`: true, `{"a":"` + strings.Repeat("x", longest-10) + `","b":"` + strings.Repeat("x", longest-10) + `"}`: false,
	} {
		if got := needsCleaning([]byte(line)); got != want {
			t.Errorf("%.40s: %v", line, got)
		}
	}
}

// Eight at a time say what each byte says, at every place.
func TestPlainLineAnyByte(t *testing.T) {
	for c := range 256 {
		for at := range 20 {
			line := []byte(strings.Repeat("x", 20))
			line[at] = byte(c)
			if want := c >= ' ' && c < 0x7f && c != '\\'; plainLine(line) != want {
				t.Fatalf("%#x at %d: %v", c, at, !want)
			}
		}
	}
}

// Peaks and windows that no GPU of that size can have are not told.
func TestImpossiblePeaks(t *testing.T) {
	const total = 8 * sampler.GiB
	gpu := func(change func(*sampler.GPU)) sampler.GPU {
		g := sampler.GPU{UUID: "GPU-1", Memory: sampler.Memory{Total: sampler.Some(total), Used: sampler.Some(total / 2), Peak: &sampler.Peak{Bytes: total},
			Window: &sampler.Window{Min: 1, Max: total, Readings: 50}}, Processes: []sampler.Process{{PID: 7, Peak: &sampler.Peak{Bytes: total}}}}
		change(&g)
		s := sampler.Snapshot{GPUs: []sampler.GPU{g}}
		possible(&s)
		return s.GPUs[0]
	}
	if g := gpu(func(*sampler.GPU) {}); g.Memory.Peak == nil || g.Memory.Window == nil || g.Processes[0].Peak == nil {
		t.Errorf("%+v", g)
	}
	const huge = ^sampler.Bytes(0) - 4 // -5 of another program
	if g := gpu(func(g *sampler.GPU) {
		g.Memory.Peak.Bytes, g.Memory.Window.Max, g.Processes[0].Peak.Bytes = huge, huge, huge
	}); g.Memory.Peak != nil || g.Memory.Window != nil || g.Processes[0].Peak != nil {
		t.Errorf("%+v", g)
	}
	if g := gpu(func(g *sampler.GPU) { g.Memory.Window.Rise = sampler.Some(total + 1) }); g.Memory.Window == nil || g.Memory.Window.Rise.Known() {
		t.Errorf("%+v", g.Memory.Window)
	}
}
