// Package redact takes secrets out of what leaves the machine or is written to a file:
// command lines, texts of logs, values of variables. A secret is known by the name of its
// option, variable or key, by the program that takes it, by its place in a header or a URL,
// or by its own shape. It is a leaf: every room may import it.
//
//	names     --hf-token X, DB_PASSWORD=X, "apiKey": "X", Cookie: X      names.go, classes.go, values.go
//	programs  wandb login X, curl -u ann:X, mysql -pX                    programs.go
//	URLs      postgres://ann:X@db, hooks of chat services                urls.go
//	shapes    hf_…, sk-…, JSON Web Tokens, PEM                           shapes.go
package redact

// maxRounds bounds how often a text is gone through anew: what stands next to a mark may
// read differently than what stood next to the secret.
const maxRounds = 8

// Text is the text without its secrets. What is not secret stays as it is, and a text that
// went through once does not change again.
func Text(s string) string {
	for range maxRounds {
		f := finder{s: s}
		f.names()
		f.programs()
		f.urls()
		f.shapes()
		next := f.cut()
		if next == s {
			break
		}
		s = next
	}
	return s
}
