package sampler

import (
	"cmp"
	"encoding/json"
)

// measures are the measures of which an advice is a form, as it is where nothing is trained. JSON names the measure, so that
// who reads it by program need not know each form, and the form beside it.
var measures = map[string]string{
	"half_precision":    "amp_bf16",
	"no_grad_inference": "no_grad_validation",
	"offload_model":     "shard_or_offload",
	"shorten_context":   "cap_sample_size",
	"smaller_input":     "cap_sample_size",
}

// Measure is the measure of which the advice is a form; of most that is the advice itself.
func (a Advice) Measure() string { return cmp.Or(measures[a.ID], a.ID) }

// adviceJSON is the form of an advice in JSON.
type adviceJSON struct {
	adviceFields
	Form string `json:"form,omitempty"`
}

type adviceFields Advice

// MarshalJSON names the measure as id and, where it has one, the form.
func (a Advice) MarshalJSON() ([]byte, error) {
	out := adviceJSON{adviceFields: adviceFields(a)}
	if measure := a.Measure(); measure != a.ID {
		out.ID, out.Form = measure, a.ID
	}
	return json.Marshal(out)
}

// UnmarshalJSON takes back what MarshalJSON has written.
func (a *Advice) UnmarshalJSON(b []byte) error {
	var in adviceJSON
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*a = Advice(in.adviceFields)
	a.ID = cmp.Or(in.Form, in.ID)
	return nil
}
