package tape

import (
	"encoding/json"
	"reflect"
	"regexp"
	"sort"
	"strings"
	"sync"
)

// redacted stands where a secret was.
const redacted = "[redacted]"

type secret struct {
	what string
	form *regexp.Regexp
}

// secrets are the forms that secrets have in command lines and log texts. Group 1 stays,
// what follows it goes. Order matters only for what two rows would take. They are
// compiled at first use: a program that records nothing needs none.
var secrets = sync.OnceValue(func() []secret {
	return []secret{
		{"user and password in a URL", regexp.MustCompile(`(\b[a-zA-Z][a-zA-Z0-9+.-]*://)[^\s/@]+@`)},
		{"signed or keyed URL", regexp.MustCompile(`(?i)([?&](?:x-amz-signature|x-amz-credential|x-amz-security-token|signature|sig|access_?token|token|api_?key|key|secret)=)[^\s&#'"]+`)},
		{"flag, assignment or JSON key", regexp.MustCompile(`(?i)((?:^|[\s,;'"{(=]|--?)(?:[a-z0-9]+[_.-])*` +
			`(?:token|api[_-]?key|apikey|access[_-]?key(?:[_-]?id)?|secret(?:[_-]?(?:key|access[_-]?key))?|private[_-]?key|account[_-]?key|passw(?:or)?d|passwd|pwd|passphrase|credentials?|auth|bearer)` +
			`["']?(?:\s*[=:]\s*|\s+)["']?(?:bearer\s+|basic\s+)?)[^\s'",;&})]+`)},
		{"authorization header", regexp.MustCompile(`(?i)(\b(?:authorization\s*[:=]\s*)?(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{8,}`)},
		{"Hugging Face", regexp.MustCompile(`(\b)(?:hf|api_org)_[A-Za-z0-9]{8,}`)},
		{"OpenAI, Anthropic and others", regexp.MustCompile(`(\b)(?:sk|pk|rk)[-_][A-Za-z0-9_-]{12,}`)},
		{"GitHub", regexp.MustCompile(`(\b)(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,})`)},
		{"GitLab", regexp.MustCompile(`(\b)gl(?:pat|ptt|dt|rt)-[A-Za-z0-9_-]{16,}`)},
		{"AWS key id", regexp.MustCompile(`(\b)(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{12,}`)},
		{"Google", regexp.MustCompile(`(\b)(?:AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{16,})`)},
		{"Slack", regexp.MustCompile(`(\b)xox[abeoprs]-[A-Za-z0-9-]{8,}`)},
		{"NVIDIA NGC", regexp.MustCompile(`(\b)nvapi-[A-Za-z0-9_-]{16,}`)},
		{"JSON Web Token", regexp.MustCompile(`(\b)eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?`)},
		{"PEM key", regexp.MustCompile(`(?s)(-----BEGIN [A-Z ]*PRIVATE KEY-----).*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`)},
	}
})

// notSecret are values of the flags above that say something else: --auth none,
// --max-token 5 would not match, but "token: 5" in a log does.
var notSecret = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:[0-9]{1,9}|-.*|none|null|true|false|yes|no|auto|\[redacted\])$`)
})

// Redact takes secrets out of a text: passwords, tokens and keys by the name of their
// flag or variable or by their own form, and what stands before the @ of a URL.
func Redact(s string) string {
	for _, row := range secrets() {
		if !row.form.MatchString(s) {
			continue
		}
		s = replaceTail(s, row.form)
	}
	return s
}

// replaceTail replaces in every match what follows group 1.
func replaceTail(s string, form *regexp.Regexp) string {
	var b strings.Builder
	last := 0
	for _, m := range form.FindAllStringSubmatchIndex(s, -1) {
		keep := m[3] // end of group 1
		if notSecret().MatchString(s[keep:m[1]]) {
			continue
		}
		b.WriteString(s[last:keep])
		b.WriteString(redacted)
		if strings.HasSuffix(s[:m[1]], "@") {
			b.WriteByte('@')
		}
		last = m[1]
	}
	b.WriteString(s[last:])
	return b.String()
}

// redactor remembers what it made of a text: command lines come again and again.
type redactor struct{ seen map[string]string }

func (r *redactor) text(s string) string {
	clean, ok := r.seen[s]
	if !ok {
		if len(r.seen) > 4096 {
			clear(r.seen)
		}
		clean = Redact(s)
		r.seen[s] = clean
	}
	return clean
}

// fields are the parts of a snapshot that may hold secrets.
func (r *redactor) fields() override {
	text := func(b []byte, v reflect.Value) []byte { return appendText(b, r.text(v.String())) }
	return override{"command": text, "name": text, "environment": r.environment, "alerts": r.alerts}
}

func (r *redactor) environment(b []byte, v reflect.Value) []byte {
	env := v.Interface().(map[string]string)
	if env == nil {
		return append(b, "null"...)
	}
	names := make([]string, 0, len(env))
	for name := range env {
		names = append(names, name)
	}
	sort.Strings(names)
	b = append(b, '{')
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendText(b, name), ':')
		b = appendText(b, r.text(env[name]))
	}
	return append(b, '}')
}

// alerts are written without what their advice may repeat of a command line.
func (r *redactor) alerts(b []byte, v reflect.Value) []byte {
	j, err := json.Marshal(v.Interface())
	if err != nil { // a NaN in the numbers
		return append(b, "null"...)
	}
	return append(b, r.json(j)...)
}

// json takes the secrets out of every string of a JSON value as encoding/json writes it,
// and leaves the rest as it is.
func (r *redactor) json(j []byte) []byte {
	out := make([]byte, 0, len(j))
	s := scanner{b: j}
	for s.i < len(j) && !s.bad {
		start := s.i
		if j[start] != '"' {
			out = append(out, j[start])
			s.i++
			continue
		}
		var text string
		s.skipText()
		raw := j[start:s.i]
		isKey := s.i < len(j) && j[s.i] == ':'
		if isKey || s.bad || json.Unmarshal(raw, &text) != nil {
			out = append(out, raw...)
			continue
		}
		out = appendText(out, r.text(text))
	}
	return out
}
