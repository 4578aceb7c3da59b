package redact

import "strings"

// place is where the value of a name stands.
type place struct {
	at       int  // where it begins
	flag     bool // the name is an option: --name
	apart    bool // only a blank stands between
	listed   bool // name and value are elements of a list: '--name', 'value'
	loose    bool // or in a sentence or table, where other things follow a name too
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
	f.call(from, to)
	name := strings.Trim(f.s[from:to], "-._")
	if !stemmed(name, vocabularies()) {
		return to
	}
	p, ok := f.place(from, to)
	if !ok {
		return f.told(from, to)
	}
	c := classify(name)
	both := classify(f.twoWords(from, to))
	switch {
	case p.query && queryKey(name):
		c = token
	case p.query && name == "code":
		c = maybe
	case !p.flag && both == plain:
		c = plain
	case !p.flag && both != maybe && c <= maybe:
		c, p.loose = both, both != c
	case c == maybe && (strings.HasSuffix(name, "_KEY") || name == "key" && (p.flag || f.login())):
		c = variable
	}
	if c == plain {
		return to
	}
	v := f.value(p, c)
	if end := f.seed(v.from); c == password && end > v.to {
		v.to, p.loose = end, false
	}
	if c == hook {
		v.from += hostEnd(f.s[v.from:v.to])
	}
	if v.to <= v.from || ordinary(f.s[v.from:v.to], c, p) || (p.loose || p.listed && !p.flag) && !besideName(f.s[v.from:v.to]) || c == token && f.prose(p, v) || p.query && name == "key" && v.to-v.from < 6 {
		return f.told(from, to)
	}
	f.add(v.from, v.to)
	return v.to
}

// login says whether a text is of logging in: what it calls a key then opens something.
func (f *finder) login() bool {
	if !f.asked {
		f.asked, f.logs = true, strings.Contains(f.s, "login") || strings.Contains(f.s, "username")
	}
	return f.logs
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
	if before == '<' || quoted {
		if at, ok := f.element(i); ok { // <password>X</password>
			p.at, p.enclosed = at, '<'
			return p, true
		}
	}
	if at, ok := f.beside(from, to); ok {
		p.loose = true
		return p.from(at), true
	}
	switch {
	case i >= len(s):
		return p, false
	case s[i] == '=' && !strings.HasPrefix(s[i:], "=="):
		i = f.after(i, "=>", spaced)
	case s[i] == ':' && !strings.HasPrefix(s[i:], "::") && !strings.HasPrefix(s[i:], "://") && before != ':' && (before != '/' || from == 1 || i+1 < len(s) && blank(s[i+1]) || blank(s[from-2])):
		i = f.after(i, ":=", true)
	case strings.HasPrefix(s[i:], "+="):
		i = f.skipBlanks(i + 2)
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

// element finds the text of an element of XML whose tag goes on at i.
func (f *finder) element(i int) (at int, ok bool) {
	rest := f.s[i:min(len(f.s), i+maxValue)]
	end := strings.IndexByte(rest[:min(len(rest), maxName)], '>')
	if end < 0 || strings.IndexByte(rest[:end], '<') >= 0 {
		return 0, false
	}
	closes := strings.IndexByte(rest[end:], '<')
	return i + end + 1, closes >= 0 && strings.HasPrefix(rest[end+closes:], "</")
}

// beside finds the value in the next cell of a table or behind an arrow, or one that has a name of its own:
// {"name": "HF_TOKEN", "value": "X"}.
func (f *finder) beside(from, to int) (at int, ok bool) {
	s := f.s
	i := f.closing(to)
	wide := run(s, i, maxName, blank)
	switch {
	case strings.HasPrefix(s[wide:], "->"):
		return f.skipBlanks(wide + 2), true
	case strings.HasPrefix(s[wide:], "|"):
		at = run(s, wide+1, maxName, blank)
		ends := run(s, run(s, at, maxName, func(c byte) bool { return !blank(c) }), maxName, blank)
		return at, ends < len(s) && s[ends] == '|' || strings.HasSuffix(strings.TrimRight(s[max(0, from-maxName):from], " \t"), "|")
	}
	i = run(s, i, maxTold, func(c byte) bool { return blank(c) || quote(c) || c == ',' || c == '\\' })
	if i == to || !strings.HasPrefix(strings.ToLower(s[i:min(len(s), i+len("value"))]), "value") {
		return 0, false
	}
	i = f.skipBlanks(f.closing(i + len("value")))
	if i >= len(s) || s[i] != '=' && s[i] != ':' {
		return 0, false
	}
	return f.skipBlanks(i + 1), true
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
