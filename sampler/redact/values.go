package redact

import (
	"strings"
	"sync"
)

// maxValue bounds how far the end of a value is looked for.
const maxValue = 4096

// value finds the value at a place, without quotes and without the word for a way to
// authenticate before it.
func (f *finder) value(p place, c class) span {
	s := f.s
	i := p.at
	for i < len(s) && s[i] == '\\' && i-p.at < 4 {
		i++
	}
	if j := f.opened(i); j > i {
		i, p.at = j, j
	}
	if i < len(s) && quote(s[i]) {
		if end := f.closes(i + 1); end >= 0 {
			if end+1 < len(s) && alnum(s[end+1]) { // "a"b", whose backslash is gone
				end = f.wordEnd(end+1, maxValue, false)
			}
			return f.unschemed(span{i + 1, end})
		}
		p.at = i + 1
	}
	if p.enclosed != 0 {
		if n := strings.IndexByte(s[p.at:min(len(s), p.at+maxValue)], p.enclosed); n >= 0 && !commanded(s[p.at:p.at+n]) {
			return f.unschemed(span{p.at, p.at + n})
		}
	}
	most := maxValue
	if c == maybe {
		most = 4 * maxName // most are no secret, and are gone through again
	}
	v := f.unschemed(span{p.at, f.wordEnd(p.at, most, p.query)})
	switch {
	case c == cookie && !p.apart:
		for v.to < len(s) && strings.HasSuffix(strings.TrimRight(s[:v.to], " "), ";") { // a=1; b=2
			next := f.wordEnd(f.skipBlanks(v.to), maxValue, false)
			if next <= v.to {
				break
			}
			v.to = next
		}
	case p.flag && c == password && only(s[v.from:v.to], func(c byte) bool { return lower(c) || upper(c) }):
		v.to = f.phrase(v)
	}
	return f.trim(v)
}

// opened skips what may stand before a value or its quote that begins at i: the end of a line behind a backslash, the sign
// of a block of YAML, the type, the kind of a text of Python and two more quotes.
func (f *finder) opened(i int) int {
	s := f.s
	if typed := "str = "; strings.HasPrefix(s[i:], typed) {
		i += len(typed)
	}
	if n := run(s, i, 2, func(c byte) bool { return strings.IndexByte("|>-", c) >= 0 }); n < len(s) && blank(s[n]) && i > 0 && (n > i && s[n] == '\n' || s[i-1] == '\\') {
		i = f.skipBlanks(n)
	}
	if n := run(s, i, 2, func(c byte) bool { return strings.IndexByte("bBfFrRuU", c) >= 0 }); n < len(s) && quote(s[n]) {
		i = n
	}
	if i+2 < len(s) && quote(s[i]) && s[i+1] == s[i] && s[i+2] == s[i] {
		i += 2
	}
	return i
}

// commanded says whether a command follows the value: "HF_TOKEN=X python train.py".
func commanded(v string) bool {
	words := strings.Fields(v)
	for i, w := range words {
		if i > 0 && (programWords()[w] || w[0] == '-' || w[0] == '&' || w[0] == '|') {
			return true
		}
	}
	return len(words) > 0 && len(words[0])+1 < len(v) && strings.HasSuffix(words[0], ";")
}

// closes finds the quote that closes the value which begins at i, as the one before i opens
// it: with as many backslashes. -1: none.
func (f *finder) closes(i int) int {
	s := f.s
	q := s[i-1]
	slashes := 0
	for i-2-slashes >= 0 && s[i-2-slashes] == '\\' {
		slashes++
	}
	n := 0 // backslashes before j
	for j := i; j < len(s) && j-i < maxValue; j++ {
		switch {
		case s[j] == '\\':
			n++
			continue
		case s[j] == q && n <= slashes && j > i && j+2 < len(s) && s[j+1] == q && alnum(s[j-1]) && alnum(s[j+2]): // 'it''s'
			j++
		case s[j] == q && n <= slashes:
			return j - n
		}
		n = 0
	}
	return -1
}

// wordEnd finds the end of an unquoted value. It may hold commas, ampersands and semicolons
// unless another name=value follows them.
func (f *finder) wordEnd(i, most int, query bool) int {
	s := f.s
	for j := i; j < len(s); j++ {
		switch c := s[j]; {
		case blank(c), j-i > most:
			return j
		case quote(c) && (j+1 == len(s) || blank(s[j+1]) || strings.IndexByte(",)]};\"'", s[j+1]) >= 0):
			return j
		case query && (c == '&' || c == '#'), (c == ',' || c == '&' || c == ';') && f.pair(j+1):
			return j
		}
	}
	return len(s)
}

// pair says whether name= or name: stands at i.
func (f *finder) pair(i int) bool {
	j := i
	for j < len(f.s) && nameByte(f.s[j]) && j-i < maxName {
		j++
	}
	return j > i && j < len(f.s) && (f.s[j] == '=' || f.s[j] == ':')
}

// trim leaves what closes a sentence or a list outside.
func (f *finder) trim(v span) span {
	for v.to > v.from && strings.IndexByte(",;)]}>\\", f.s[v.to-1]) >= 0 && !strings.HasSuffix(f.s[v.from:v.to], Mark) {
		v.to--
	}
	return v
}

// unschemed is the value behind "Bearer", "Basic", "token" and the like.
func (f *finder) unschemed(v span) span {
	s := f.s
	word, _, more := strings.Cut(s[v.from:v.to], " ")
	if !scheme(word) {
		return v
	}
	i := f.skipBlanks(v.from + len(word))
	switch {
	case more:
		v.from = min(i, v.to)
	case i > v.to && strings.EqualFold(word, "digest"): // username="ann", response="X"
		v = span{i, run(s, i, maxValue, func(c byte) bool { return c != '\n' })}
	case i > v.to && i < len(s) && s[i] != '-':
		v = span{i, f.wordEnd(i, maxValue, false)}
	}
	return v
}

func scheme(word string) bool {
	switch strings.ToLower(word) {
	case "bearer", "basic", "token", "digest", "apikey", "api-key", "negotiate", "key":
		return true
	}
	return false
}

// phrase finds the end of an option's value that may be several words: they are known only by
// that the next option, or nothing, follows them.
func (f *finder) phrase(v span) int {
	end := v.to
	for range 8 {
		i := f.skipBlanks(end)
		if i == end || i >= len(f.s) || f.s[i] == '-' {
			if i > end || i >= len(f.s) {
				return end
			}
			break
		}
		next := f.wordEnd(i, maxValue, false)
		if word := f.s[i:next]; !only(word, alnum) || programWords()[word] {
			break
		}
		end = next
	}
	return v.to
}

// common are words that stand where a secret could and are none.
var common = sync.OnceValue(func() map[string]bool {
	return set("none null nil true false yes no on off auto default required optional enabled disabled enable disable undefined empty unset missing invalid " +
		"expired unknown str string int bytes bool env prompt stdin ask redacted hidden secret password token passwd key not is was are the and or for ok to by from with")
})

// ordinary says of the value of a name whether it is no secret after all.
func ordinary(v string, c class, p place) bool {
	low := strings.ToLower(v)
	switch {
	case strings.HasPrefix(v, Mark), common()[low], placeholder(v):
		return true
	case p.apart && !p.listed && v[0] == '-':
		return option(v, c)
	case strings.Contains(v, "://"), c != cookie && strings.HasPrefix(v, "/") && c != password && path(v):
		return c != hook
	}
	switch c {
	case password:
		return number(v) && len(v) < 4 || location(v)
	case token:
		return number(v) && len(v) < 6+2*b2i(!p.flag) || path(v) || !p.flag && expression(v)
	case auth:
		return number(v) || only(v, lower) && len(v) <= 10 || path(v) || strings.IndexByte(v, '(') >= 0
	case cookie:
		return number(v) || path(v)
	case maybe:
		return !random(v)
	case variable:
		return !random(v) && !(len(v) >= 16 && some(v, digit) && some(v, lower) && only(v, func(c byte) bool { return alnum(c) || c == '+' || c == '/' || c == '=' }))
	}
	return false
}

// option says whether a word with a dash in the place of a value is an option rather.
func option(v string, c class) bool {
	switch {
	case strings.HasPrefix(v, "--"), strings.Contains(v, "="):
		return true
	case c == password:
		return len(v) < 5
	}
	return len(v) < 8 || !some(v, digit) || !(some(v, lower) || some(v, upper))
}

// placeholder: $TOKEN, ${TOKEN}, $(cat x), {{ token }}, <token>, ****, ...
func placeholder(v string) bool {
	switch {
	case strings.HasPrefix(v, "$(") || strings.HasPrefix(v, "${") || strings.HasPrefix(v, "{{") || strings.HasPrefix(v, "`"):
		return true
	case v[0] == '$':
		return only(v[1:], func(c byte) bool { return upper(c) || digit(c) || c == '_' })
	case v[0] == '<':
		return strings.HasSuffix(v, ">") || only(v[1:], func(c byte) bool { return upper(c) || c == '_' })
	}
	return strings.Trim(v, "*.xX#?…") == ""
}

// expression says whether a value is code that names or makes one: tokens[0], get(x).
func expression(v string) bool {
	n := strings.IndexAny(v, "[(")
	return n > 0 && n < 24 && only(v[:n], func(c byte) bool { return lower(c) || c == '_' || c == '.' }) && !some(v[n:], upper) && len(v)-n < 16
}

func number(v string) bool {
	return only(strings.TrimPrefix(v, "-"), func(c byte) bool { return digit(c) || c == '.' })
}

// location is a path that cannot well be anything else.
func location(v string) bool {
	for _, start := range []string{"~/", "./", "../", "/run/", "/home/", "/etc/", "/var/", "/tmp/", "/mnt/", "/root", "/usr/"} {
		if strings.HasPrefix(v, start) {
			return true
		}
	}
	return false
}

// path says whether a value is the name of a file.
func path(v string) bool {
	if location(v) || v[0] == '@' && len(v) > 1 {
		return true
	}
	if v[0] == '/' && only(v, func(c byte) bool { return alnum(c) || strings.IndexByte("/._-", c) >= 0 }) && !random(v[1:]) {
		return true
	}
	dot := strings.LastIndexByte(v, '.')
	return dot > 0 && extensions()[strings.ToLower(v[dot+1:])]
}

var extensions = sync.OnceValue(func() map[string]bool {
	return set("json jsonl txt yaml yml toml cfg conf ini env pem key crt cert cer pub p12 pfx jks csv tsv npy npz pt pth ckpt bin safetensors py sh sqlite db log lic gz zip tar html md netrc")
})

// random says whether a value looks like one that a machine made: long, of figures and of
// both kinds of letters.
func random(v string) bool {
	return len(v) >= 20 && some(v, digit) && some(v, lower) && some(v, upper) && strings.IndexByte(v, ' ') < 0 && strings.Count(v, ".")+strings.Count(v, "-")+strings.Count(v, "_")+strings.Count(v, ":") < 4
}
