package redact

import (
	"slices"
	"strings"
	"sync"
)

// taking is a way in which a program takes a secret.
type taking struct {
	programs string // their names
	after    string // a word that comes before, such as login
	option   string // whose value is secret; empty: the first word after that is no option
	stuck    bool   // the value stands in the same word: -pX
	apart    bool   // or in the next
	behind   string // only what stands behind this in the value: ann:X
	bundle   string // letters without a value that may stand before that of the option: -su
	words    int    // of the first so many words without options, the last; 0: the first
}

// program are the takings by the names of programs.
var takingsOf = sync.OnceValue(func() map[string][]*taking {
	m := map[string][]*taking{}
	for i := range takings {
		for _, name := range strings.Fields(takings[i].programs) {
			m[name] = append(m[name], &takings[i])
		}
	}
	return m
})

// programWords are names of programs that may follow the value of an option.
var programWords = sync.OnceValue(func() map[string]bool {
	m := set("python python2 python3 torchrun accelerate deepspeed mpirun srun sbatch bash sh env sudo nohup docker vllm ray jupyter uv poetry conda git curl wget ssh psql rsync make time exec run start train serve")
	for name := range takingsOf() {
		m[name] = true
	}
	return m
})

// maxArguments is how many words after its name are a program's.
const maxArguments = 48

// programs finds secrets that are known by the program which takes them.
func (f *finder) programs() { f.commands(span{0, len(f.s)}, 3) }

// commands goes through the words of a part of the text, and so many levels deep through
// commands in quotes: bash -c 'wandb login X'.
func (f *finder) commands(part span, levels int) {
	words := f.words(part)
	for i, w := range words {
		name := f.s[w.from:w.to]
		if levels > 0 && w != part && strings.IndexByte(name, ' ') > 0 {
			f.commands(w, levels-1)
			continue
		}
		base := name[strings.LastIndexAny(name, "/'\"`(")+1:] // also in run('curl -u ann:X')
		for _, t := range takingsOf()[base] {
			f.taken(t, arguments(f.s, words[i+1:]))
		}
		if (base == "net" || base == "net.exe") && i+1 < len(words) && strings.EqualFold(f.text(words[i+1]), "use") {
			f.share(arguments(f.s, words[i+2:]))
		}
		f.pair2(words, i)
		f.setting(words, i)
		if (base == "echo" || base == "printf") && i+2 < len(words) && f.text(words[i+2]) == "|" {
			f.piped(words[i+1], words[i+3:])
		}
		if name == "<<<" && i+1 < len(words) {
			f.piped(words[i+1], words[max(0, i-maxArguments):i])
		}
	}
}

// words are the words of a part of the text, without the quotes around them.
func (f *finder) words(part span) (list []span) {
	s := f.s[:part.to]
	for i := part.from; i < len(s); {
		if blank(s[i]) {
			i++
			continue
		}
		from, option := i, s[i] == '-'
		for i < len(s) && !blank(s[i]) {
			if quote(s[i]) && (i == from || option) { // -p'two words'
				if end := f.closes(i + 1); end >= 0 && (end+1 == len(s) || end+1 < len(s) && blank(s[end+1])) {
					i = end
				}
			}
			i++
		}
		w := span{from, i}
		if quote(s[from]) && i-from > 1 && s[i-1] == s[from] {
			w = span{from + 1, i - 1}
		}
		list = append(list, w)
	}
	return list
}

func (f *finder) text(w span) string { return f.s[w.from:w.to] }

// arguments are the words up to the end of the command.
func arguments(s string, words []span) []span {
	for i, w := range words[:min(len(words), maxArguments)] {
		switch s[w.from:w.to] {
		case "|", "||", "&&", ";", "&":
			return words[:i]
		}
	}
	return words[:min(len(words), maxArguments)]
}

// taken finds what a program takes in one way.
func (f *finder) taken(t *taking, args []span) {
	if t.after != "" {
		i := 0
		for i < len(args) && f.text(args[i]) != t.after {
			i++
		}
		if i >= len(args) || i > 4 {
			return
		}
		args = args[i+1:]
	}
	if t.option == "" {
		f.positional(t, args)
		return
	}
	for i, w := range args {
		option := t.option
		if n := t.bundled(f.text(w)); n > 0 {
			option = f.text(w)[:n]
		}
		rest, ok := strings.CutPrefix(f.text(w), option)
		switch {
		case !ok:
		case rest == "" && t.apart && i+1 < len(args):
			f.behind(args[i+1], t.behind)
		case rest != "" && t.stuck && (t.option[1] != '-' && len(t.option) == 2 && rest[0] != '-' || rest[0] == '=' || ends(t.option, ":")):
			f.behind(span{w.from + len(option) + b2i(rest[0] == '='), w.to}, t.behind)
		}
	}
}

// bundled is the length of a word up to its option, where only other letters of a bundle stand before it; 0: it is none.
func (t *taking) bundled(word string) int {
	if t.bundle == "" || len(word) < 3 || word[0] != '-' {
		return 0
	}
	at := 1
	for at < len(word) && strings.IndexByte(t.bundle, word[at]) >= 0 {
		at++
	}
	if at > 1 && at < len(word) && word[at] == t.option[1] {
		return at + 1
	}
	return 0
}

// positional finds the word that is no option and looks like a key: others may be of a
// sentence that names the program.
func (f *finder) positional(t *taking, args []span) {
	n := 0
	for _, w := range args {
		v := f.text(w)
		if strings.HasPrefix(v, Mark) {
			return
		}
		if v == "" || v[0] == '-' || strings.Contains(v, "://") {
			continue
		}
		if n++; n < t.words {
			continue
		}
		if len(v) >= 8 && (some(v, digit) || len(v) >= 20) || t.words > 0 {
			f.credential(w)
			return
		}
	}
}

// behind finds the secret part of a value. With nothing behind the sign it is the user's
// name that is a key.
func (f *finder) behind(w span, sign string) {
	if n := strings.Index(f.text(w), sign); n >= 0 {
		if from := w.from + n + len(sign); from < w.to {
			w.from = from
		} else if plainUser(f.s[w.from:w.from+n]) && n < 8 {
			return
		}
		f.credential(w)
	}
}

// credential adds a word that is one by its place.
func (f *finder) credential(w span) {
	w = f.trim(w)
	if v := f.text(w); v != "" && !strings.HasPrefix(v, Mark) && !placeholder(v) && !strings.HasPrefix(v, "--") && !location(v) {
		f.add(w.from, w.to)
	}
}

// pair2 finds -p X beside -u ann, and -p with what can be no number, path or partition.
func (f *finder) pair2(words []span, i int) {
	if o := f.text(words[i]); o != "-p" && o != "-P" || i+1 >= len(words) {
		return
	}
	v := f.text(words[i+1])
	if v == "" || v[0] == '-' || strings.ContainsAny(v, "/:=") || number(v) || path(v) {
		return
	}
	user := i >= 2 && f.user(words[i-2], words[i-1]) || i+3 < len(words) && f.user(words[i+2], words[i+3]) ||
		i >= 1 && strings.HasPrefix(f.text(words[i-1]), "--user")
	odd := len(v) >= 8 && some(v, digit) && some(v, upper) && some(v, lower) && !strings.ContainsAny(v, "_-.,") || len(v) >= 6 && strings.ContainsAny(v, "!#$%^&*@")
	if user || odd {
		f.credential(words[i+1])
	}
}

// user says whether two words name a user: -u ann.
func (f *finder) user(option, name span) bool {
	switch f.text(option) {
	case "-u", "-U", "--user", "--username", "--login":
		v := f.text(name)
		return v != "" && v[0] != '-' && !strings.ContainsAny(v, "/:=") && !path(v)
	}
	return false
}

// share finds the password of `net use Z: \\host\share X /user:ann`, wherever it stands.
func (f *finder) share(args []span) {
	user := func(w span) bool { return strings.HasPrefix(strings.ToLower(f.text(w)), "/user:") }
	if !slices.ContainsFunc(args, user) {
		return
	}
	for _, w := range args {
		if v := f.text(w); v != "" && v[0] != '/' && v[0] != '\\' && !(len(v) == 2 && v[1] == ':') {
			f.credential(w)
		}
	}
}

// setting finds the value of a setting: `aws configure set aws_secret_access_key X`.
func (f *finder) setting(words []span, i int) {
	name := f.text(words[i])
	if i == 0 || i+1 >= len(words) || !only(name, nameByte) || name[0] == '-' || common()[f.text(words[i+1])] {
		return
	}
	if c := classify(name); c != password && c != token {
		return
	}
	for _, w := range words[max(0, i-5):i] {
		switch f.text(w) {
		case "set", "modify", "config", "configure":
			f.credential(words[i+1])
			return
		}
	}
}

// piped finds what is echoed into a program that reads a password.
func (f *finder) piped(value span, words []span) {
	for _, w := range arguments(f.s, words) {
		if v := f.text(w); ends(v, "-stdin", "_stdin") || v == "-S" || v == "login" {
			f.credential(value)
			return
		}
	}
}
