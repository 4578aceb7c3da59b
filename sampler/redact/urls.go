package redact

import "strings"

// maxURL bounds how much of a URL is looked at.
const maxURL = 2048

// hooks are addresses in which what follows is the secret.
var hooks = []string{
	"hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/",
	"discord.com/api/webhooks/", "discordapp.com/api/webhooks/",
	".webhook.office.com/webhookb2/", "outlook.office.com/webhook/", "outlook.office365.com/webhook/",
	"api.telegram.org/bot", "open.feishu.cn/open-apis/bot/v2/hook/", "open.larksuite.com/open-apis/bot/v2/hook/",
	"hooks.zapier.com/hooks/catch/", "maker.ifttt.com/trigger/", "hc-ping.com/", "sctapi.ftqq.com/", "api.day.app/",
}

// urls finds user names with passwords in URLs, and the addresses of chat hooks.
func (f *finder) urls() {
	s := f.s
	for i := 0; ; {
		n := strings.Index(s[i:], "://")
		if n < 0 {
			return
		}
		at := i + n
		i = at + 3
		if at == 0 || !alnum(s[at-1]) {
			continue
		}
		end := i
		for end < len(s) && end-i < maxURL && !blank(s[end]) && !quote(s[end]) && s[end] != '<' && s[end] != '>' {
			end++
		}
		rest := s[i:end]
		f.userinfo(i, rest)
		for _, h := range hooks {
			if k := strings.Index(rest, h); k >= 0 && k <= strings.IndexByte(rest, '/') {
				v := f.trim(span{i + k + len(h), end})
				f.add(v.from, v.to)
			}
		}
		i += max(0, strings.IndexAny(rest, "/?#"))
	}
}

// userinfo finds what stands before the @ of a URL that begins at i. A password may hold
// @ and / although it should not.
func (f *finder) userinfo(i int, rest string) {
	host := rest
	if n := strings.IndexAny(rest, "/?#"); n >= 0 {
		host = rest[:n]
	}
	at := strings.LastIndexByte(host, '@')
	colon := strings.IndexByte(host, ':')
	later := strings.LastIndexByte(rest, '@')
	switch {
	case at < 0 && colon > 0 && later > 0 && host[0] != '[' && !only(host[colon+1:], digit) && named(rest[later+1:]):
		at = later // user:pa/ss@host
	case at < 0:
		return
	case colon >= 0 && colon < at && later > at && !named(host[at+1:]) && named(rest[later+1:]):
		at = later // user:p@s/s@host
	}
	info := rest[:at]
	user, pass, both := strings.Cut(info, ":")
	if info == Mark || both && (pass == "" || placeholder(pass)) && plainUser(user) || !both && plainUser(user) {
		return
	}
	f.add(i, i+at)
}

// named says whether a host of a network stands at the beginning.
func named(s string) bool {
	if n := strings.IndexAny(s, "/?#"); n >= 0 {
		s = s[:n]
	}
	name, port, _ := strings.Cut(s, ":")
	return only(name, nameByte) && (strings.IndexByte(name, '.') > 0 || name == "localhost" || only(port, digit))
}

// plainUser says whether a user of a URL is a name and no key.
func plainUser(s string) bool {
	return len(s) <= 20 && only(strings.TrimPrefix(s, "$"), func(c byte) bool { return lower(c) || digit(c) || c == '_' || c == '-' || c == '.' }) &&
		!(len(s) > 12 && some(s, digit))
}

// hostEnd is how much of a URL is its scheme and host; 0: it is no URL with more than that.
func hostEnd(s string) int {
	n := strings.Index(s, "://")
	if n < 0 {
		return len(s)
	}
	k := strings.IndexByte(s[n+3:], '/')
	if k < 0 {
		return len(s)
	}
	return n + 3 + k + 1
}
