package tape

import (
	"strings"
	"testing"
)

func TestRedact(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"python train.py --batch-size 64 --lr=0.1", "python train.py --batch-size 64 --lr=0.1"},
		{"x --token=abc123 --y", "x --token=[redacted] --y"},
		{"x --api-key s3cr3t", "x --api-key [redacted]"},
		{"x --api_key='s3cr3t' z", "x --api_key='[redacted]' z"},
		{"x --hub-token abcdef", "x --hub-token [redacted]"},
		{"x --password hunter2 y", "x --password [redacted] y"},
		{"WANDB_API_KEY=0123456789abcdef python x.py", "WANDB_API_KEY=[redacted] python x.py"},
		{"env AWS_SECRET_ACCESS_KEY=abc/def+ghi x", "env AWS_SECRET_ACCESS_KEY=[redacted] x"},
		{"aws AKIAIOSFODNN7EXAMPLE go", "aws [redacted] go"},
		{"login hf_AbCdEfGhIjKlMn x", "login [redacted] x"},
		{"x sk-proj-abcdefghijklmnop y", "x [redacted] y"},
		{"git clone https://ann:pa55@host/x.git", "git clone https://[redacted]@host/x.git"},
		{"s3 https://b/x?X-Amz-Signature=00ff&y=1", "s3 https://b/x?X-Amz-Signature=[redacted]&y=1"},
		{"curl -H Authorization: Bearer abcdefgh12345678", "curl -H Authorization: Bearer [redacted]"},
		{"x ghp_abcdefghijklmnopqrst", "x [redacted]"},
		{"jwt eyJhbGciOiJI.eyJzdWIiOiIx.abc_def", "jwt [redacted]"},
		{"x --password=", "x --password="},
		{"vllm serve --max-num-batched-tokens 8192 --tokenizer x/y", "vllm serve --max-num-batched-tokens 8192 --tokenizer x/y"},
		{"x --auth none --token 5", "x --auth none --token 5"},
		{"x --token --verbose", "x --token --verbose"},
		{"mailto ann@example.org", "mailto ann@example.org"},
		{"", ""},
	} {
		if got := Redact(c.in); got != c.want {
			t.Errorf("%q\n got %q\nwant %q", c.in, got, c.want)
		}
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("x --token=abc sk-abcdefghijklmnopq https://a:b@c/?token=x")
	f.Fuzz(func(t *testing.T, s string) {
		once := Redact(s)
		if strings.Count(once, "hf_abcdefgh") > 0 && strings.Contains(s, " hf_abcdefgh ") && strings.Contains(once, " hf_abcdefgh ") {
			t.Errorf("%q keeps its secret: %q", s, once)
		}
		if len(once) > 20*len(s)+20 {
			t.Errorf("%q grew to %d bytes", s, len(once))
		}
	})
}
