package redact

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

type sample struct {
	Text string
	List []string
	Map  map[string]string
	Any  map[string]any
	Ptr  *sample
	At   time.Time
	N    []float64
	own  string
}

func TestCopy(t *testing.T) {
	at := time.Now()
	make := func(secret string) sample {
		inner := &sample{Text: "x --token " + secret}
		return sample{Text: "HF_TOKEN=" + secret, List: []string{"a", "wandb login --key=" + secret}, Map: map[string]string{"HF_TOKEN": secret, "N": "1"},
			Any: map[string]any{"a": []string{"--password " + secret}, "b": 1}, Ptr: inner, At: at, N: []float64{1}, own: "kept"}
	}
	in := make("s3cr3tA")
	if got, want := Copy(in), make(Mark); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
	if !reflect.DeepEqual(in, make("s3cr3tA")) {
		t.Errorf("the original changed: %+v", in)
	}
}

func TestJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{"do":["python t.py --hf-token s3cr3tA --lr 1"],"n":1.50}`: `{"do":["python t.py --hf-token [redacted] --lr 1"],"n":1.50}`,
		`{"environment":{"HF_TOKEN":"s3cr3tA","N":"1"}}`:            `{"environment":{"HF_TOKEN":"[redacted]","N":"1"}}`,
		`{"HF_TOKEN" : "a\"b\u003c", "x": "a<b \u0026 c"}`:          `{"HF_TOKEN" : "[redacted]", "x": "a<b \u0026 c"}`,
		`{"text":"\"accessToken\": \"s3cr3tA\" <b>"}`:               `{"text":"\"accessToken\": \"[redacted]\" <b>"}`,
		`{"token":null,"password":12,"a":"b"}`:                      `{"token":null,"password":12,"a":"b"}`,
		`{"密码":"s3cr3tA","HF?_TOKEN":"s3cr3tA","令牌数":"4096"}`:       `{"密码":"[redacted]","HF?_TOKEN":"[redacted]","令牌数":"4096"}`,
		`"broken`: `"broken`,
		``:        ``,
	} {
		if got := string(JSON([]byte(in))); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"token":"a","list":["--password b"],"n":1}`))
	f.Fuzz(func(t *testing.T, j []byte) {
		out := JSON(j)
		if json.Valid(j) && !json.Valid(out) {
			t.Errorf("%q became %q", j, out)
		}
	})
}
