package sampler

import (
	"reflect"
	"testing"
)

// TestMetricTable: names are the words of scripts: unique, and each reads something else.
func TestMetricTable(t *testing.T) {
	g := GPU{Memory: Memory{Peak: &Peak{}}}
	n := 0
	fillNumbers(reflect.ValueOf(&g).Elem(), &n)
	names, values := map[string]bool{}, map[float64]string{}
	for _, m := range MetricTable() {
		v, ok := m.Of(&g).Value()
		if names[m.Name] || !ok || values[v] != "" {
			t.Errorf("metric %s: twice, or the same as %q (%v, %v)", m.Name, values[v], v, ok)
		}
		names[m.Name], values[v] = true, m.Name
		if got := m.Of(&GPU{}); got.Known() {
			t.Errorf("metric %s of a GPU of which nothing is known is %v", m.Name, got)
		}
	}
}

// fillNumbers gives every figure of a struct another value.
func fillNumbers(v reflect.Value, n *int) {
	*n++
	switch p := v.Addr().Interface().(type) {
	case *Bytes:
		*p = Bytes(*n) * MiB
	case *Opt[Bytes]:
		*p = Some(Bytes(*n) * MiB)
	case *Opt[int]:
		*p = Some(*n)
	case *Opt[uint64]:
		*p = Some(uint64(*n) * uint64(KiB))
	case *Opt[float64]:
		*p = Some(float64(*n) + 0.5)
	default:
		switch {
		case v.Kind() == reflect.Pointer && !v.IsNil():
			fillNumbers(v.Elem(), n)
		case v.Kind() == reflect.Struct && v.NumField() > 0 && v.Type().Field(v.NumField()-1).IsExported():
			for i := range v.NumField() {
				fillNumbers(v.Field(i), n)
			}
		}
	}
}
