// Package tools knows programs that others wrote and many run: the words that name each, what it does, and which of its
// own options and settings make its job on the GPU smaller.
//
//	rows_*.go ─► tools.go: In, the program that a text names
package tools

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Of says what a lever makes smaller.
type Of string

// What levers are of.
const (
	Batch         Of = "batch"         // how many inputs at once, in whatever unit
	Input         Of = "input"         // each input, or how much of it at once
	Model         Of = "model"         // a smaller variant of it
	Bits          Of = "bits"          // of weights or of what is computed
	Offload       Of = "offload"       // parts of the model that wait in RAM
	Checkpointing Of = "checkpointing" // what is kept for the backward pass
	Validation    Of = "validation"    // beside a training
	Context       Of = "context"       // tokens of a server or a language model
)

// Does says what a program does, where it does only one thing.
type Does string

// What programs do.
const (
	Either Does = "" // it trains and runs models
	Trains Does = "trains"
	Runs   Does = "runs"
	Tests  Does = "tests" // it runs a model over a data set
)

// Lever is what to change in a program, as it calls it.
type Lever struct {
	Of   Of
	Type string // an option, a setting or a call, with a smaller value than by default where it has one
	By   string // id of the words "lever.<by>" that say what it changes
}

// ofScript is a lever that is an option of a script or, in brackets, a line of some. Settings in a file of that name are read by each script.
var ofScript = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\w[\w.-]*\.py) -|\(([\w.-]+\.py(?:, [\w.-]+\.py)*)\)$`)
})

// Scripts are those of the program's own scripts of which a lever is an option or a line; none: of any. A lever that is a script alone is to be run
// instead of the others.
func (l Lever) Scripts() []string {
	at := ofScript().FindStringSubmatch(l.Type)
	if at == nil || at[2] == "config.py" {
		return nil
	}
	return strings.Split(at[1]+at[2], ", ")
}

// Tool is a program. One that has no lever of the batch has no batch that is set.
type Tool struct {
	Name  string   // as its authors write it
	Words []string // of paths, commands, imports and sentences that name it and nothing else
	Does  Does
	For   Does // what its levers change, where it does both and they change one of them
	// Batches: its lever of the batch is an option of those of its scripts that run a model, too, or only of those that test one.
	Batches Does
	// Running are the beginnings of its levers that are options of those of its scripts alone that run a model, by no word that says so.
	Running []string
	// Library: programs of others are made with it, so it is meant only where none of these is named.
	Library bool
	// Native: it is compiled and nobody's own script, so no line of Python changes what it does.
	Native bool
	// Whole: all weights are on the GPUs, and it can keep none in RAM.
	Whole bool
	// Grows: it adds to what it fits as it goes on, so that memory rises by design.
	Grows bool
	// Takes: it lets the pool of TensorFlow take what it needs as it goes on, and not its share at start.
	Takes bool
	// One: it trains with one sample at a time unless its settings say otherwise.
	One bool
	// App: what it shows in a browser takes its options, too. Of others that is another script, mostly without any.
	App bool
	// Of names the program with whose commands this one is run: a method or a part of it with options of its own.
	Of     string
	Sure   []string // of these the text has one where it is meant, as others have its name
	Source string   // URL of the source or the documentation in which its levers were read
	Levers []Lever
}

// ofTraining and ofRunning are ids of words for what only a training has, and only who runs a model. The layers of one that is run are given.
var (
	ofTraining = []string{"accumulate", "checkpoint", "frozen", "layers", "optimizer", "seldom"}
	ofRunning  = []string{"results", "tiles"}
)

// trainedWith are settings that a script has which trains, and one that runs a model only where it is known to. A demonstration
// takes one input after the other, and all of it.
var trainedWith = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[^e])train|optimizer|solver\.|^["']?-{0,2}(?:bs?|batch(?:[-_]?(?:size|num)\w*)?)["']?(?: ?[=:] ?| )|^-{0,2}(?:\w+\.)?(?:crop|patch|image)_?size\w*(?: ?[=:] ?| )`)
})

// runWith are settings that a script has which runs a model.
var runWith = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)infer|predict|det_?batch|decod|sampl\w+_chunk|\bencode\(`)
})

// At are the levers that change what a program does: training, or running a model.
func (t *Tool) At(does Does) []Lever {
	switch {
	case does == Either:
		return t.Levers
	case does == Trains && (t.For == Runs || t.Does == Runs), does != Trains && t.For == Trains:
		return nil
	}
	return slices.DeleteFunc(slices.Clone(t.Levers), func(l Lever) bool {
		switch {
		case does == Trains:
			return slices.Contains(ofRunning, l.By) || runWith().MatchString(l.Type) || slices.ContainsFunc(t.Running, func(option string) bool { return strings.HasPrefix(l.Type, option) })
		case t.Does == Runs || t.For == Runs:
			return false
		case slices.Contains(ofTraining, l.By):
			return true
		case l.Of == Batch && (t.Batches == Runs || t.Batches == does):
			return false
		}
		return l.Of != Validation && trainedWith().MatchString(l.Type)
	})
}

// All are the programs known, in the order in which they are told apart.
func All() []Tool { return rows }

// Named is a program by its name; nil: it is not known.
func Named(name string) *Tool {
	for i := range rows {
		if rows[i].Name == name {
			return &rows[i]
		}
	}
	return nil
}

// In is the program that a text names, the one that it names most often; nil: none. Paths are to be given WithoutEnvironments.
//
// Many programs have methods and models with the names of others. Where another program is named, such a name means one of these: behind the name of a
// program, in its command or its folder ("ns-train instant-ngp", "mmdet/models/yolox.py"), and then everywhere; in a folder of settings ("configs/yolox")
// and behind an option for the model, there.
func In(text string) *Tool {
	counts, meant, within := make([]int, len(rows)), make([]int, len(rows)), make([]bool, len(rows))
	owner, argument, last := -1, false, ""
	each(text, func(word, between string) {
		i, known := byWord()[word]
		switch path := between == "/" || between == `\` || between == "."; {
		case path:
			argument = argument || last == "configs"
		case between == " " || between == "=":
			argument = strings.HasPrefix(last, "model")
			if of, known := byWord()[last]; !known || of != owner {
				owner = -1
			}
		default:
			owner, argument = -1, false
		}
		last = word
		if !known {
			return
		}
		counts[i]++
		switch {
		case owner >= 0 && owner != i && rows[i].Of != rows[owner].Name:
			within[i] = true
		case argument:
		default:
			meant[i]++
			owner = i
		}
	})
	for i := range meant {
		if counts[i] > 0 && !rows[i].sure(text) {
			counts[i], meant[i] = 0, 0
		}
		if within[i] {
			meant[i] = 0
		}
	}
	if most := mostNamed(meant); most != nil {
		return most
	}
	return mostNamed(counts)
}

// sure: a text that names the program means it, not another of that name.
func (t *Tool) sure(text string) bool {
	return len(t.Sure) == 0 || slices.ContainsFunc(t.Sure, func(word string) bool { return strings.Contains(text, word) })
}

// mostNamed is the program that is named most often, given how often each is; nil: none is.
func mostNamed(counts []int) *Tool {
	best := -1
	for i, n := range counts {
		if n > 0 && (best < 0 || rows[best].Library && !rows[i].Library || n > counts[best] && rows[best].Library == rows[i].Library) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	return &rows[best]
}

var environment = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[/\\](?:envs|venvs|virtualenvs|\.conda)[/\\][\w.-]+`)
})

// WithoutEnvironments leaves out the names of Python environments in paths, which tell what somebody made them for, not what runs.
func WithoutEnvironments(text string) string { return environment().ReplaceAllString(text, "") }

var byWord = sync.OnceValue(func() map[string]int {
	known := map[string]int{}
	for i := range rows {
		for _, w := range rows[i].Words {
			each(w, func(word, _ string) { known[word] = i })
		}
	}
	return known
})

// installed: what follows a name is the version of a package, as lists of what is installed have it.
func installed(rest string) bool {
	for _, sign := range []string{"==", ">=", "~=", "<=", "@"} {
		if strings.HasPrefix(rest, sign) {
			return true
		}
	}
	version := strings.TrimLeft(rest, " \t=")
	blanks := len(rest) - len(version)
	return (blanks > 1 || rest[0] == '=') && version != "" && version[0] >= '0' && version[0] <= '9'
}

// switched: what follows a name sets it to yes or no, as a settings file does that turns a part of another program on or off.
func switched(rest string) bool {
	rest = strings.TrimLeft(strings.TrimLeft(rest, `"'`), " \t")
	if rest == "" || rest[0] != ':' && rest[0] != '=' {
		return false
	}
	value := strings.TrimLeft(rest[1:], " \t")
	return slices.ContainsFunc([]string{"true", "false", "none", "null"}, func(word string) bool {
		return len(value) >= len(word) && strings.EqualFold(value[:len(word)], word) && (len(value) == len(word) || strings.IndexByte(" \t\r\n,;#}'\"`", value[len(word)]) >= 0)
	})
}

// fileWords follow the name of a program where its files are meant, which others read: "a COLMAP dataset".
var fileWords = []string{"dataset", "data set", "format", "output", "poses", "reconstruction", "model file"}

// hasDataset is a program with a command of that name, which is not about files that others read.
const hasDataset = "nsrender"

// ofFiles: what follows a name says that files of that program are meant.
func ofFiles(rest string) bool {
	rest = strings.TrimLeft(rest, "'\"`") // 'nerfstudio' dataset
	return slices.ContainsFunc(fileWords, func(w string) bool {
		return len(rest) > len(w) && rest[0] == ' ' && strings.EqualFold(rest[1:len(w)+1], w)
	})
}

// models have the name of a program in theirs: what stands before it, it, and what follows it. "" is anything.
var models = []struct{ before, name, behind string }{{"mistral", "nemo", ""}, {"", "nemo", " 12b"}} // https://huggingface.co/mistralai/Mistral-Nemo-Instruct-2407

// ofModel says that a model of that name is meant.
func ofModel(before, name, rest string) bool {
	return slices.ContainsFunc(models, func(m struct{ before, name, behind string }) bool {
		return m.name == name && (m.before == "" || m.before == before) && len(rest) >= len(m.behind) && strings.EqualFold(rest[:len(m.behind)], m.behind)
	})
}

// each visits the words of a text in lower case and without the signs within them that people leave out: "Real-ESRGAN" is
// "realesrgan". With each comes what stands between it and the word before.
func each(text string, visit func(word, between string)) {
	word, before := make([]byte, 0, 64), ""
	begin, end := 0, 0 // of the word that is read, and of the one before
	visitTo := func(at int) {
		if s := strings.Trim(string(word), "0123456789"); s != "" && !ofModel(before, string(word), text[at:]) {
			visit(string(word), text[end:begin])
		}
		if before = string(word); before != "" {
			end = at
		}
	}
	han := 0 // bytes that are left of a letter of Chinese, Japanese or Korean, beside which names stand without a blank
	for i := range len(text) {
		c := text[i]
		if han--; c >= 0xE3 && c <= 0xED {
			han = 2
		}
		if han >= 0 {
			c = ' '
		}
		switch {
		case c >= 'A' && c <= 'Z':
			c |= 0x20
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c >= 0x80:
		case c == '-' || c == '_':
			continue
		default:
			if !installed(text[i:]) && !switched(text[i:]) && (string(word) == hasDataset || !ofFiles(text[i:])) {
				visitTo(i)
			}
			word = word[:0]
			continue
		}
		if len(word) == 0 {
			begin = i
		}
		if word = append(word, c); len(word) > 64 {
			word = word[:0] // no name is that long
		}
	}
	visitTo(len(text))
}
