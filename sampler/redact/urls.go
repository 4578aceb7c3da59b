package redact

import (
	"strings"
	"sync"
)

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
		f.userinfo(i, rest, f.server(at))
		for _, h := range hooks {
			if k := strings.Index(rest, h); k >= 0 && k <= strings.IndexByte(rest, '/') {
				v := f.trim(span{i + k + len(h), end})
				f.add(v.from, v.to)
			}
		}
		i += max(0, strings.IndexAny(rest, "/?#"))
	}
}

// servers are schemes of URLs whose host stands often alone, without a domain, and whose paths hold no @.
var servers = sync.OnceValue(func() map[string]bool {
	return set("postgres postgresql mysql mariadb mongodb redis rediss amqp amqps mssql oracle clickhouse cockroachdb ftp ftps sftp ssh scp smb ldap ldaps mqtt nats")
})

// server says whether the scheme that ends at i is one of them: postgresql+psycopg2.
func (f *finder) server(i int) bool {
	from := i
	for from > 0 && i-from < 24 && (alnum(f.s[from-1]) || f.s[from-1] == '+') {
		from--
	}
	scheme, _, _ := strings.Cut(f.s[from:i], "+")
	return servers()[scheme]
}

// userinfo finds what stands before the @ of a URL that begins at i. A password may hold
// @ and / although it should not. server: any word can be the host.
func (f *finder) userinfo(i int, rest string, server bool) {
	host := rest
	if n := strings.IndexAny(rest, "/?#"); n >= 0 {
		host = rest[:n]
	}
	at := strings.LastIndexByte(host, '@')
	colon := strings.IndexByte(host, ':')
	later := strings.LastIndexByte(rest, '@')
	ends := named(rest[later+1:]) || server && later+1 < len(rest) && nameByte(rest[later+1])
	switch {
	case at < 0 && colon > 0 && later > 0 && host[0] != '[' && !only(host[colon+1:], digit) && ends:
		at = later // user:pa/ss@host
	case at < 0:
		return
	case colon >= 0 && colon < at && later > at && (server || !named(host[at+1:])) && ends:
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

// hostEnd is how much of a URL is its scheme and host: all, if there is no more; 0: it is none, and looks like a key.
func hostEnd(s string) int {
	n := strings.Index(s, "://")
	if n < 0 {
		return len(s) * b2i(!random(s))
	}
	k := strings.IndexByte(s[n+3:], '/')
	if k < 0 {
		return len(s)
	}
	return n + 3 + k + 1
}
