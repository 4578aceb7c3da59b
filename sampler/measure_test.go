package sampler

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// TestAdviceForms: JSON names the measure that the contract knows, and the form that it has here; reading it gives the same advice.
func TestAdviceForms(t *testing.T) {
	for id, want := range map[string]string{
		"smaller_input": `"id":"cap_sample_size","rank":2,`,
		"offload_model": `"id":"shard_or_offload","rank":2,`,
		"fix_leak":      `"id":"fix_leak","rank":2,`,
	} {
		a := Advice{ID: id, Rank: 2, Title: "t", Do: []string{"x"}, Saves: Some(Range{1, 2})}
		b, err := json.Marshal([]Advice{a})
		if err != nil || !strings.Contains(string(b), want) || strings.Contains(string(b), `"form":"`+id+`"`) != (measures[id] != "") {
			t.Errorf("%s: %s, %v", id, b, err)
		}
		var back []Advice
		if err := json.Unmarshal(b, &back); err != nil || len(back) != 1 || !reflect.DeepEqual(back[0], a) {
			t.Errorf("%s: read back %+v, %v", id, back, err)
		}
	}
}
