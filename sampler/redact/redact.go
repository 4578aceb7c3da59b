// Package redact takes secrets out of what leaves the machine or is written to a file:
// command lines, texts of logs, values of variables. A secret is known by the name of its
// option, variable or key, by the program that takes it, by its place in a header or a URL,
// or by its own shape. It is a leaf: every room may import it.
//
//	names     --hf-token X, DB_PASSWORD=X, "apiKey": "X", Cookie: X      names.go, classes.go, values.go
//	programs  wandb login X, curl -u ann:X, mysql -pX                    programs.go
//	URLs      postgres://ann:X@db, hooks of chat services                urls.go
//	shapes    hf_…, sk-…, JSON Web Tokens, PEM                           shapes.go
//	sentences the API key is X, Password for ann: X                      prose.go
//	calls     login("X"), auth=('ann', 'X')                              calls.go
//	meaning   token%3DX, 密码：X, --hf?token X                             view.go
package redact

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// maxRounds bounds how often a text is gone through anew: what stands next to a mark may
// read differently than what stood next to the secret.
const maxRounds = 8

// hidden are characters that nobody sees, or takes for a blank, and that would part a name from itself or from its value.
func hidden(r rune) bool { return r == 0x1b || shown(r) != r }

// shown is what is seen of a character; -1: nothing.
func shown(r rune) rune {
	switch r {
	case 0xa0, 0x2007, 0x202f, 0x2800, 0x3000:
		return ' '
	case 0xad, 0x115f, 0x1160, 0x3164, 0xffa0, 0x200b, 0x200c, 0x200d, 0x2060, 0xfeff, 0x180e:
		return -1
	}
	return r
}

// Text is the text without its secrets, and without what is not seen of it. Everything else stays as it is, and a text that
// went through once does not change again.
func Text(s string) string {
	if strings.ContainsFunc(s, hidden) {
		s = strings.ReplaceAll(ansi.Strip(strings.Map(shown, s)), "\x1b", "")
	}
	for range maxRounds {
		f := finder{s: s}
		f.find()
		if v := meant(s); v != nil {
			in := finder{s: v.s.String()}
			in.find()
			for _, at := range in.found {
				f.add(v.at[at.from].from, v.at[at.to-1].to)
			}
		}
		next := f.cut()
		if next == s {
			break
		}
		s = next
	}
	return s
}

// find finds everything there is.
func (f *finder) find() {
	f.names()
	f.programs()
	f.urls()
	f.shapes()
}
