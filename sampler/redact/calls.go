package redact

import "strings"

// calls are functions whose last text is a secret, whatever it looks like (true), or if it looks like one.
var calls = map[string]bool{
	"login": false, "connect": false, "creds": true, "credentials": true, "authenticate": false, "set_token": false, "set_api_key": false, "setapikey": false, "secretstr": true, "set_password": true,
	"httpbasicauth": true, "httpdigestauth": true, "httpproxyauth": true, "basicauth": true, "auth": true, "http_auth": true, "basic_auth": true,
}

// maxCall is how far the arguments of a call are gone through.
const maxCall = 512

// call finds the secret in the arguments of a call, login("X"), or in a pair, auth=('ann', 'X'), of the name [from, to).
func (f *finder) call(from, to int) {
	i := to
	for i < len(f.s) && (quote(f.s[i]) || strings.IndexByte(`=: \`, f.s[i]) >= 0) && i-to < 6 {
		i++
	}
	if i >= len(f.s) || f.s[i] != '(' && f.s[i] != '[' {
		return
	}
	name := f.s[from:to]
	always, ok := calls[strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])]
	if !ok || !always && f.s[to] != '(' {
		return
	}
	last, n := f.lastText(i + 1)
	v := f.s[last.from:last.to]
	pair := always && (n > 1 || strings.EqualFold(name, "secretstr"))
	if v != "" && !placeholder(v) && !strings.Contains(v, "://") && (pair || len(v) >= 8 && besideName(v) && !path(v) && !named(v[strings.IndexByte(v, '@')+1:])) {
		f.add(last.from, last.to)
	}
}

// lastText is the last of the texts among arguments that begin at i, without those that have a name, and the number of arguments.
func (f *finder) lastText(i int) (last span, n int) {
	starts := true // an argument may begin
	n = 1
	for end := min(len(f.s), i+maxCall); i < end && f.s[i] != ')' && f.s[i] != ']'; i++ {
		switch c := f.s[i]; {
		case quote(c):
			closes := f.closes(i + 1)
			if closes < 0 {
				return last, n
			}
			if starts {
				last = span{i + 1, closes}
			}
			i, starts = run(f.s, closes, 4, func(c byte) bool { return c == '\\' }), false
		case c == ',':
			starts, n = true, n+1
		case !blank(c) && c != '\\' && strings.IndexByte("bfru", c) < 0:
			starts = false
		}
	}
	return last, n
}
