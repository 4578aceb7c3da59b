package redact

import (
	"slices"
	"strings"
)

// prose says of the value of a token whether it is a word of a sentence: "token: word".
func (f *finder) prose(p place, v span) bool {
	return !p.flag && !p.apart && !p.listed && blank(f.s[v.from-1]) && v.to-v.from <= 8 && only(f.s[v.from:v.to], lower)
}

// besideName says whether a value beside a name in a list or sentence is no word, like that of another name: ('api_key', 'X').
func besideName(v string) bool {
	return len(v) >= 6 && some(v, digit) && (some(v, lower) || some(v, upper))
}

// twoWords is the name [from, to) with the word before it, where one says what the other is of: API key, pass word.
func (f *finder) twoWords(from, to int) string {
	name := f.s[from:to]
	switch strings.ToLower(name) {
	case "key", "word", "phrase", "pass", "code":
	default:
		return name
	}
	if from < 2 || f.s[from-1] != ' ' {
		return name
	}
	before := from - 1
	for before > 0 && from-before < maxTold && alnum(f.s[before-1]) {
		before--
	}
	return f.s[before:from-1] + "_" + name
}

// maxTold is longer than the words that go with a name.
const maxTold = 16

// told finds a secret that stands behind its name without a sign, or with words between: Bearer X, Password for ann: X. What
// a sentence goes on with is none, so it must look like one.
func (f *finder) told(from, to int) int {
	name, c := strings.ToLower(f.s[from:min(to, from+maxName)]), classify(f.twoWords(from, to))
	if c != password && c != token && name != "basic" && name != "key" {
		return to
	}
	i, said := f.said(to)
	if i == to {
		return to
	}
	end := run(f.s, i, maxValue, func(c byte) bool { return alnum(c) || strings.IndexByte("._~+/=-!@#$%^&*", c) >= 0 })
	for end > i && strings.IndexByte(".!", f.s[end-1]) >= 0 {
		end--
	}
	v := f.s[i:end]
	if v == "" || path(v) {
		return to
	}
	return f.keep(spoken(name, c, v, said) || c == password && f.netrc(from), to, i, end)
}

// spoken says whether a word behind a name is its value rather than the next of a sentence. said: by a verb or sign.
func spoken(name string, c class, v string, said bool) bool {
	text := some(v, lower) || some(v, upper)
	made := text && some(v, digit)
	switch {
	case name == "bearer" || name == "basic":
		return !said && (len(v) >= 16 || len(v) >= 8 && !only(v, lower))
	case c == password:
		return len(v) >= 6 && (made || text && said && strings.ContainsAny(v, "!@#$%^&*")) && v[0] != '-'
	case name == "key" && c != token || name == "token" && !said:
		return len(v) >= 16 && made && only(v, alnum)
	}
	return len(v) >= 12 && made && only(v, func(c byte) bool { return alnum(c) || c == '-' || c == '_' })
}

// verbs stand between a name and its value; owners between a name and whose it is.
var verbs, owners = strings.Fields("is was are ist war wurde auf lautet est es era to as set with provided entered given used - ..."), strings.Fields("for (for of from on at für von fuer pour de para do")

// said is where a value may begin that a sentence tells behind a name which ends at i, and whether more than a blank is between.
func (f *finder) said(i int) (at int, said bool) {
	at = run(f.s, f.closing(i), maxName, blank)
	if at == i {
		return i, false
	}
	if slices.Contains(owners, f.wordAt(at)) {
		rest, _, _ := strings.Cut(f.s[at:min(len(f.s), at+64)], "\n")
		n := strings.Index(rest, ": ")
		if n < 0 || strings.ContainsAny(rest[:n], "=,{}") {
			return i, false
		}
		at, said = f.skipBlanks(at+n+1), true
	}
	for slices.Contains(verbs, f.wordAt(at)) {
		at, said = f.skipBlanks(at+len(f.wordAt(at))), true
	}
	if said && at < len(f.s) && (f.s[at] == ':' || f.s[at] == '=') {
		at = f.skipBlanks(at + 1)
	}
	for at < len(f.s) && (f.s[at] == '\\' || quote(f.s[at])) {
		at++
	}
	return at, said
}

// wordAt is the word at i, or nothing if it is a long one.
func (f *finder) wordAt(i int) string {
	end := run(f.s, i, maxTold, func(c byte) bool { return !blank(c) && c != ':' && c != '=' })
	return strings.ToLower(f.s[i:end])
}

// seed is where the words of a recovery phrase end that begin at i; i: they are fewer.
func (f *finder) seed(i int) int {
	end := i
	for n, at := 0, i; n < 24; n++ {
		next := run(f.s, at, maxTold, lower)
		if next < at+3 && n < 12 {
			return i
		}
		if next < at+3 {
			break
		}
		end, at = next, f.skipBlanks(next)
	}
	return end
}

// netrc says whether "login ann" stands before i.
func (f *finder) netrc(i int) bool {
	words := strings.Fields(f.s[max(0, i-4*maxTold):i])
	return len(words) >= 2 && words[len(words)-2] == "login"
}

// keep adds [from, to) if it is a secret and returns where to go on; before if it is none.
func (f *finder) keep(secret bool, before, from, to int) int {
	if !secret {
		return before
	}
	f.add(from, to)
	return to
}
