package redact

import (
	"strings"
	"sync"
)

// alphabet is what the bytes after the prefix of a key are.
type alphabet uint8

const (
	letters alphabet = iota // letters and figures
	word                    // and _
	dashed                  // and - _
	base64                  // and + / = - _
	dotted                  // and . - _
)

func (a alphabet) has(c byte) bool {
	switch {
	case alnum(c):
		return true
	case c == '_':
		return a >= word
	case c == '-':
		return a >= dashed
	case c == '+' || c == '/' || c == '=':
		return a == base64
	}
	return c == '.' && a == dotted
}

// shape is how the keys of a service begin and go on.
type shape struct {
	prefix string
	of     alphabet
	least  int  // bytes after the prefix
	mixed  bool // of two kinds, such as figures and letters: the prefix alone is that of other words too
}

// maxShape bounds how far a key is looked at before it is one.
const maxShape = 256

// shapesBy are the shapes by their first byte.
var shapesBy = sync.OnceValue(func() (m [256][]shape) {
	for _, s := range shapeTable {
		m[s.prefix[0]] = append(m[s.prefix[0]], s)
	}
	return m
})

// shapes finds keys by their own form.
func (f *finder) shapes() {
	s := f.s
	table := shapesBy()
	for i := 0; i < len(s); i++ {
		if i > 0 && (alnum(s[i-1]) || s[i-1] == '_') {
			continue
		}
		end := 0
		for _, row := range table[s[i]] {
			if strings.HasPrefix(s[i:], row.prefix) {
				end = max(end, row.end(s, i))
			}
		}
		if end == 0 && alnum(s[i]) {
			end = special(s, i)
		}
		if end > 0 {
			f.add(i, end)
			i = end - 1
		}
	}
	f.privateKeys()
}

// end is where the key of a shape ends that begins at i; 0: it is none.
func (row shape) end(s string, i int) int {
	from := i + len(row.prefix)
	j := from
	for j < len(s) && j-from < maxShape && row.of.has(s[j]) {
		j++
	}
	if j-from < row.least || row.mixed && !mixed(s[from:j]) {
		return 0
	}
	for j < len(s) && row.of.has(s[j]) {
		j++
	}
	for j > from && s[j-1] == '.' {
		j--
	}
	return j
}

// mixed says whether a text has two of small letters, capitals and figures.
func mixed(s string) bool {
	return b2i(some(s, digit))+b2i(some(s, lower))+b2i(some(s, upper)) > 1
}

// special are shapes without a fixed beginning.
func special(s string, i int) int {
	switch c := s[i]; {
	case digit(c):
		return telegram(s, i)
	case c >= 'M' && c <= 'O':
		if end := discord(s, i); end > 0 {
			return end
		}
	}
	if strings.HasPrefix(s[min(len(s), i+4):], "Q~") && digit(s[i+3]) { // of an application of Azure: …8Q~…
		if end := run(s, i+6, 64, func(c byte) bool { return dotted.has(c) || c == '~' }); end-i >= 37 {
			return end
		}
	}
	return storage(s, i)
}

// telegram is the key of a bot: figures:AA….
func telegram(s string, i int) int {
	n := run(s, i, 12, digit)
	if n-i >= 8 && strings.HasPrefix(s[n:], ":AA") {
		if end := run(s, n+1, 64, dashed.has); end-n > 30 {
			return end
		}
	}
	return 0
}

// discord is the key of a bot: three parts with dots between.
func discord(s string, i int) int {
	a := run(s, i, 40, dashed.has)
	b := run(s, min(len(s), a+1), 8, dashed.has)
	if a-i < 23 || b-a != 7 || s[a] != '.' || b >= len(s) || s[b] != '.' {
		return 0
	}
	if end := run(s, b+1, 64, dashed.has); end-b > 27 {
		return end
	}
	return 0
}

// storage is the key of an account of Azure Storage: 64 bytes in base64.
func storage(s string, i int) int {
	if i > 0 && (s[i-1] == '+' || s[i-1] == '/') {
		return 0
	}
	end := run(s, i, 88, func(c byte) bool { return alnum(c) || c == '+' || c == '/' })
	if end-i == 86 && strings.HasPrefix(s[end:], "==") {
		return end + 2
	}
	return 0
}

// privateKeys finds PEM blocks, also cut ones.
func (f *finder) privateKeys() {
	const begin, head, end = "-----BEGIN ", "PRIVATE KEY-----", "-----END"
	for i := 0; ; {
		n := strings.Index(f.s[i:], begin)
		if n < 0 {
			return
		}
		i += n + len(begin)
		k := strings.Index(f.s[i:min(len(f.s), i+48)], head)
		if k < 0 {
			continue
		}
		from := f.skipBlanks(i + k + len(head))
		to := len(f.s)
		if m := strings.Index(f.s[from:], end); m >= 0 {
			to = from + m
		}
		for to > from && blank(f.s[to-1]) {
			to--
		}
		f.add(from, to)
		i = to
	}
}
