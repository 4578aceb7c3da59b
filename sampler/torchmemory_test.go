package sampler

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// Whatever a file or a process says of an allocator's memory, no text of it reaches a terminal as it is, and no count is
// below zero.
func TestCleanTorchDevice(t *testing.T) {
	const raw = "a\x1b[31m\u202eb"
	d := &TorchDevice{}
	fill(reflect.ValueOf(d).Elem(), raw)
	d.Clean()
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{`\u001b`, `\u202e`, "\u202e", "-7"} {
		if i := strings.Index(string(text), bad); i >= 0 {
			t.Errorf("%q is left: %.60s", bad, text[max(0, i-40):])
		}
	}
	if !strings.Contains(string(text), `"a`) {
		t.Errorf("nothing was filled in: %.200s", text)
	}
	(*TorchDevice)(nil).Clean()
	(&TorchDevice{}).Clean()
	(&TorchDevice{Trace: &TorchTrace{}}).Clean()
}

// fill gives every text, count and list in a value something, counts below zero.
func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Int:
		v.SetInt(-7)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i), text)
			}
		}
	}
}
