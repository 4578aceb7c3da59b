package redact

import "strings"

// view is a text as it is meant: decoded, in English, and without what stands for characters that nobody sees. What is
// found in it is cut out of the text as it is written.
type view struct {
	s  strings.Builder
	at []span // of each byte, what it stands for
}

// meanings are ways to write signs and names that the rules do not know, by their first byte.
var meanings = func() (m [256][][2]string) {
	for _, row := range [][2]string{
		{"%3D", "="}, {"%253D", "="}, {"%3A", ":"}, {"%253A", ":"}, {"%22", `"`}, {"%27", "'"}, {"%20", " "}, {"%26", "&"},
		{"：", ":"}, {"﹕", ":"}, {"＝", "="}, {"，", ","}, {"“", `"`}, {"”", `"`}, {"„", `"`}, {"‘", "'"}, {"’", "'"}, {"「", `"`}, {"」", `"`}, {"« ", `"`}, {"«", `"`},
		{"│", "|"}, {"┃", "|"}, {"║", "|"}, {"→", "->"}, {"⇒", "->"}, {"‐", "-"}, {"‑", "-"}, {"–", "-"}, {"—", "-"}, {"−", "-"},
		{"密码", "password"}, {"密碼", "password"}, {"口令", "password"}, {"パスワード", "password"}, {"비밀번호", "password"}, {"암호", "password"}, {"пароль", "password"},
		{"contraseña", "password"}, {"hasło", "password"}, {"lösenord", "password"},
		{"密钥", " apikey"}, {"密鑰", " apikey"}, {"令牌", " authtoken"}, {"トークン", " authtoken"}, {"токен", " authtoken"}, {"clé api", " apikey"}, {"schlüssel", "key"},
		{"是", " is "}, {"为", " is "}, {"為", " is "},
		{"а", "a"}, {"е", "e"}, {"о", "o"}, {"р", "p"}, {"с", "c"}, {"х", "x"}, {"у", "y"}, {"і", "i"}, {"к", "k"}, {"ѕ", "s"},
	} {
		first := row[0][0]
		m[first] = append(m[first], row)
		if up := strings.ToUpper(row[0])[0]; up != first {
			m[up] = append(m[up], row)
		}
	}
	return m
}()

// meant is the text as it is meant; nil if that is as it is written.
func meant(s string) *view {
	v := &view{}
	done := 0
	for i := 0; i < len(s); {
		n, as := meaning(s, i)
		if n == 0 {
			i++
			continue
		}
		v.copy(s, done, i)
		for range len(as) {
			v.at = append(v.at, span{i, i + n})
		}
		v.s.WriteString(as)
		i += n
		done = i
	}
	if done == 0 {
		return nil
	}
	v.copy(s, done, len(s))
	return v
}

func (v *view) copy(s string, from, to int) {
	v.s.WriteString(s[from:to])
	for i := from; i < to; i++ {
		v.at = append(v.at, span{i, i + 1})
	}
}

// meaning is how many bytes at i mean something else, and what.
func meaning(s string, i int) (n int, as string) {
	if s[i] == '?' {
		return unseen(s, i)
	}
	for _, row := range meanings[s[i]] {
		if end := i + len(row[0]); end <= len(s) && strings.EqualFold(s[i:end], row[0]) {
			return len(row[0]), row[1]
		}
	}
	return 0, ""
}

// unseen is what a ? means that stands for a character which nobody sees, as [sampler.Clean] writes it: nothing within a
// name, a blank behind one, and the whole order to a terminal.
func unseen(s string, i int) (n int, as string) {
	if rest := s[i+1:]; strings.HasPrefix(rest, "[") && !strings.HasPrefix(rest, Mark) {
		end := run(rest, 1, 16, func(c byte) bool { return digit(c) || c == ';' })
		if end < len(rest) && (lower(rest[end]) || upper(rest[end])) {
			return end + 2, ""
		}
	}
	from, to := i, run(s, i+1, maxName, nameByte)
	for from > 0 && i-from < maxName && nameByte(s[from-1]) {
		from--
	}
	switch {
	case from == i || i+1 == len(s) || blank(s[i+1]), from > 0 && s[from-1] == '/', strings.IndexByte(s[from:i], '.') >= 0: // a question, the query of a URL
		return 0, ""
	case classify(s[from:i]) != plain && classify(s[from:i]+s[i+1:to]) == plain:
		return 1, " "
	}
	return 1, ""
}
