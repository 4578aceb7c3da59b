package redact

import "strings"

// place is where the value of a name stands.
type place struct {
	at       int  // where it begins
	flag     bool // the name is an option: --name
	apart    bool // only a blank stands between
	listed   bool // name and value are elements of a list: '--name', 'value'
	query    bool // of a URL
	enclosed byte // the quote that stands before the name and closes after the value
}

// names finds the values of names that say their value is secret.
func (f *finder) names() {
	for i := 0; i < len(f.s); {
		if !nameByte(f.s[i]) {
			i++
			continue
		}
		end := i + 1
		for end < len(f.s) && nameByte(f.s[end]) {
			end++
		}
		i = max(end, f.named(i, end))
	}
}

// named looks at what stands in [from, to) as a name and returns where its value ends.
func (f *finder) named(from, to int) int {
	p, ok := f.place(from, to)
	if !ok {
		return f.told(from, to)
	}
	name := strings.Trim(f.s[from:to], "-._")
	c := classify(name)
	switch {
	case p.query && queryKey(name):
		c = token
	case c == maybe && (strings.HasSuffix(name, "_KEY") || name == "key" && (p.flag || f.login())):
		c = variable
	}
	if c == plain {
		return to
	}
	v := f.value(p, c)
	if c == hook {
		v.from += hostEnd(f.s[v.from:v.to])
	}
	if v.to <= v.from || ordinary(f.s[v.from:v.to], c, p) || p.listed && !p.flag && !besideName(f.s[v.from:v.to]) || c == token && f.prose(p, v) {
		return f.told(from, to)
	}
	f.add(v.from, v.to)
	return v.to
}

// besideName says whether a value beside a name in a list is no word, like that of another name: ('api_key', 'X').
func besideName(v string) bool {
	return len(v) >= 6 && some(v, digit) && (some(v, lower) || some(v, upper))
}

// prose says of the value of a token whether it is a word of a sentence: "token: word".
func (f *finder) prose(p place, v span) bool {
	return !p.flag && !p.apart && !p.listed && blank(f.s[v.from-1]) && v.to-v.from <= 8 && only(f.s[v.from:v.to], lower)
}

// login says whether a text is of logging in: what it calls a key then opens something.
func (f *finder) login() bool {
	if !f.asked {
		f.asked, f.logs = true, strings.Contains(f.s, "login") || strings.Contains(f.s, "username")
	}
	return f.logs
}

// told finds a secret that stands behind its name without a sign: Bearer X, password X. What
// a sentence goes on with is none, so it must look like one.
func (f *finder) told(from, to int) int {
	i := f.skipBlanks(to)
	if i == to {
		return to
	}
	name := strings.ToLower(f.s[from:min(to, from+maxTold)])
	switch name {
	case "bearer", "basic", "password", "passwd", "passphrase", "token", "key":
	default:
		return to
	}
	end := run(f.s, i, maxValue, func(c byte) bool { return alnum(c) || strings.IndexByte("._~+/=-!@#$%^&*", c) >= 0 })
	v := f.s[i:end]
	if v == "" || path(v) {
		return to
	}
	figures, text := some(v, digit), some(v, lower) || some(v, upper)
	switch name {
	case "bearer", "basic":
		return f.keep(len(v) >= 16 || len(v) >= 8 && !only(v, lower), to, i, end)
	case "token", "key":
		return f.keep(len(v) >= 20 && figures && text && only(v, alnum), to, i, end)
	}
	return f.keep(len(v) >= 6 && figures && text && v[0] != '-', to, i, end)
}

// maxTold is longer than the names that need no sign.
const maxTold = 16

// keep adds [from, to) if it is a secret and returns where to go on; before if it is none.
func (f *finder) keep(secret bool, before, from, to int) int {
	if !secret {
		return before
	}
	f.add(from, to)
	return to
}

// queryKey are names of URL parameters that sign it or open it.
func queryKey(name string) bool {
	switch strings.ToLower(name) {
	case "key", "sig", "signature", "x-amz-signature", "x-goog-signature", "x-amz-credential", "x-goog-credential":
		return true
	}
	return false
}

// place finds the value that follows the name [from, to): after = or :, or after a blank if
// the name is an option.
func (f *finder) place(from, to int) (p place, ok bool) {
	s := f.s
	p.flag = s[from] == '-'
	before := byte(' ')
	if from > 0 {
		before = s[from-1]
	}
	p.query = before == '?' || before == '&'
	i := f.closing(to)
	quoted := i > to
	blanks := i
	for i < len(s) && blank(s[i]) && i-blanks < 4 {
		i++
	}
	spaced := i > blanks
	switch {
	case i >= len(s):
		return p, false
	case s[i] == '=' && !strings.HasPrefix(s[i:], "=="):
		i = f.after(i, "=>", spaced)
	case s[i] == ':' && !strings.HasPrefix(s[i:], "::") && !strings.HasPrefix(s[i:], "://") && before != ':' && before != '/':
		i = f.after(i, ":=", true)
	case strings.HasPrefix(s[i:], "+="):
		i = f.skipBlanks(i + 2)
	case s[i] == '>' && before == '<' && i == to: // <password>X</password>
		p.at, p.enclosed = i+1, '<'
		return p, true
	case s[i] == ',' && quoted:
		i = f.skipBlanks(i + 1)
		p.listed, p.apart = true, true
		return p.from(i), i < len(s) && quote(s[i])
	case spaced && p.flag:
		p.apart = true
		return p.from(i), true
	default:
		return p, false
	}
	if quote(before) && !quoted {
		p.enclosed = before
	}
	return p.from(i), true
}

func (p place) from(i int) place { p.at = i; return p }

// closing skips what may close a name: "name" or ["name"], also with backslashes.
func (f *finder) closing(i int) int {
	j := i
	for j < len(f.s) && f.s[j] == '\\' && j-i < 4 {
		j++
	}
	if j == len(f.s) || !quote(f.s[j]) {
		return i
	}
	j++
	if j < len(f.s) && f.s[j] == ']' {
		j++
	}
	return j
}

// after skips a sign of one byte, or of the two of long, and the blanks behind it.
func (f *finder) after(i int, long string, blanks bool) int {
	if strings.HasPrefix(f.s[i:], long) {
		return f.skipBlanks(i + 2)
	}
	if blanks {
		return f.skipBlanks(i + 1)
	}
	return i + 1
}

func (f *finder) skipBlanks(i int) int {
	for n := 0; i < len(f.s) && blank(f.s[i]) && n < 8; n++ {
		i++
	}
	return i
}
