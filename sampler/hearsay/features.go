package hearsay

import (
	"slices"
	"strings"
	"sync"
	"unicode"
)

// notions are words that mean much the same here. A star stands for any ending.
var notions = []struct{ name, words string }{
	{"fails", "oom* out-of-memory fail* crash* die dies died dying dead stop* abort* kill* broke broken break breaks error* exception* blow blows blew explod* halt* quit* bail* terminat* collaps* throw* threw raise* chok* boom gave give gives interrupt* trip* hit hits"},
	{"unit", "epoch* step steps iteration* iter iters hour* hr hrs minute* min mins batch batches minibatch* day days night* image* img imgs picture* pics photo* file files pdf pdfs video* prompt* generation* gens request* sample samples example* question* document* docs page pages frame frames fold folds trial* update updates episode* sentence* quer* item items case cases volume* scan scans call calls round* task tasks clip clips song songs chunk* tile tiles message* job jobs rollout* week* month* render* utterance* run runs"},
	{"order", "first second third fourth fifth sixth seventh eighth ninth tenth next last later #th subsequent following"},
	{"after", "after until till before then when once while since following during"},
	{"memory", "memory* vram ram usage footprint consumption allocated reserved mem gb mib #gb"},
	{"grows", "grow* grew increas* rise rises rising rose climb* creep* crept accumulat* pile* piling build* higher bigger more doubl* leak* fill fills filling swell* balloon* upward* inflat* adds add up staircase"},
	{"well", "fine ok okay well good great smooth* normal* perfect* happ* success* work works worked working run runs ran running pass passes passed complete* finish* alright able can could manage*"},
	{"not", "not no never none cannot neither nor dont doesnt cant wont without nothing nobody"},
	{"big", "long* large* big* huge high* 4k 8k heavy massive giant many enormous biggest largest"},
	{"small", "short* small* tiny few* low lower less little tiniest"},
	{"validation", "valid* evaluat* eval evals val testing test tests dev metric* scor* benchmark*"},
	{"saving", "sav* writ* export* merg* convert* conver* push* onnx gguf dump* state_dict"},
	{"resume", "checkpoint* ckpt* resum* restor* load_state_dict reload* continu*"},
	{"loading", "load* from_pretrained weights shard* init* model.to move* build* construct*"},
	{"start", "start* begin* began launch* immediate* instant* direct* straight initial* away once beginning very zero"},
	{"others", "another other others someone somebody colleague* student* user users zombie* leftover* old previous shar* chrome browser* desktop game* kernel* process* pid also both instance* container* notebook session* service*"},
	{"holds", "hold* held occup* use uses used using take takes taken taking eat eats eating keep keeps kept open alive still hog*"},
	{"version", "version* updat* upgrad* driver* release* commit* downgrad* rollback rolled revert* install* bump* regression bisect* master main pull nightly #ver newest latest new older"},
	{"past", "yesterday ago before previously formerly earlier last used always month* week* year* today now anymore sudden* recent* until week"},
	{"same", "same identical exact* chang* touch* untouched unchanged modif* else nothing"},
	{"gpus", "gpu gpus card cards cuda* device* rank* a100* v100* h100* 3090* 4090* node* machine* laptop* server* colab kaggle cloud"},
	{"keeps", "append* stor* collect* list lists dict* buffer* history hook* gather* stack* cat concat* sum += loss losses logit* output* pred* embedding* feature* hidden graph* detach* retain_graph tensor* .append( cache* accumulat*"},
	{"free", "free available empty left plenty enough unused idle room unoccupied"},
	{"lowered", "reduc* lower* decreas* cut halv* shrink* shrunk smaller batch* batch_size resolution size* tried even difference help* avail luck remain* persist* still down"},
	{"varies", "random* sometimes occasional* intermittent* sporadic* unpredictabl* different vari* vary* flaky pattern luck arbitrary every-now irregular* inconsistent* depends"},
	{"host", "killed sigkill #137 swap* host system cpu oomkill* oom-kill* oomkilled slurm dmesg htop worker* paging pagefile dataloader ram reboot* freez*"},
	{"each", "each every per over-time slow* steadi* gradual* constant* continu* keep keeps linear* between"},
	{"unsure", "if should could would might may maybe perhaps whether how why what is can do does plan* want* possible think suppos* guess* wonder* suspect* like"},
	{"models", "model* both two pipeline* vae encoder* decoder* teacher* student critic reward reference actor draft lora* controlnet* refiner second"},
	{"short", "oom* out exhaust* exceed* insufficient enough full overflow* max maxed limit* lack* fit fits fitted surpass* ceiling capacity room space killed beyond shortage* short"},
	{"unallocated", "fragment* unallocated reserved reserve cached segment* split* holes hole max_split_size* expandable*"},
}

// Features are the features of a passage, each once.
func Features(passage string) []uint32 {
	words := wordsOf(passage)
	stems, means := make([]uint32, len(words)), make([][]int, len(words))
	first := make([]int, len(notions)) // where a notion begins, from 1
	for i, w := range words {
		stems[i], means[i] = hash(ofWord, stemOf(w)), notionsOf(w)
		for _, n := range means[i] {
			if first[n] == 0 {
				first[n] = i + 1
			}
		}
	}
	list := make([]uint32, 0, 40*len(words))
	for i, w := range words {
		list = append(list, stems[i])
		if len(w) > begins {
			list = append(list, hash(ofBegin, w[:begins]))
		}
		if i == 0 {
			list = append(list, pair(ofFirst, stems[i], 0))
		}
		for skip := 1; skip <= near && i+skip < len(words); skip++ {
			next := i + skip
			if skip < near {
				list = append(list, pair(ofPair, stems[i], stems[next]))
			}
			for _, a := range means[i] {
				list = append(list, pair(ofNotionWord, uint32(a), stems[next]))
				for _, b := range means[next] {
					list = append(list, pair(ofNotionNotion, uint32(a), uint32(b)))
				}
			}
			for _, b := range means[next] {
				list = append(list, pair(ofWordNotion, stems[i], uint32(b)))
			}
		}
	}
	for a, at := range first {
		if at == 0 {
			continue
		}
		list = append(list, pair(ofNotion, uint32(a), 0))
		for b, then := range first {
			if then == 0 || a == b {
				continue
			}
			if a < b {
				list = append(list, pair(ofBoth, uint32(a), uint32(b)))
			}
			if at < then {
				list = append(list, pair(ofOrder, uint32(a), uint32(b)))
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Kinds of features: a word, how one begins, the first word, two words near to each other, a notion and a word and so on, a notion, two of them anywhere, and
// in that order.
const (
	ofWord = iota + 1
	ofBegin
	ofFirst
	ofPair
	ofNotionWord
	ofNotionNotion
	ofWordNotion
	ofNotion
	ofBoth
	ofOrder
)

const (
	begins = 5 // bytes, by which words that are spelled wrong or have other endings are alike
	near   = 3 // words apart
)

// apart parts what is not from the word before it.
var apart = strings.NewReplacer("’", "'", "n't", " not ", "n’t", " not ")

// wordsOf are the words of a passage in small letters. A number is "#", an amount of memory "#gb", a version "#ver". Where words are written
// without spaces between them, as in Chinese and Japanese, each character is one.
func wordsOf(passage string) (words []string) {
	for _, w := range strings.FieldsFunc(spaced(strings.ToLower(apart.Replace(passage))), func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(",;:()[]{}\"`*<>|", r)
	}) {
		question := strings.HasSuffix(w, "?")
		w = strings.Trim(w, ".!?'-_/~≈")
		if w != "" {
			words = append(words, ofNumber(w))
		}
		if question {
			words = append(words, "?")
		}
	}
	return words
}

// spaced is a text with spaces around the characters of languages that have none between words.
func spaced(text string) string {
	if !strings.ContainsFunc(text, dense) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case dense(r):
			b.WriteString(" " + string(r) + " ")
		case strings.ContainsRune("，。？！、；：（）「」", r):
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func dense(r rune) bool {
	return r > 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// ofNumber is what a word with digits in it stands for.
func ofNumber(w string) string {
	digits, points := 0, 0
	end := len(w)
	for i, r := range w {
		switch {
		case unicode.IsDigit(r):
			digits++
		case r == '.':
			points++
		case r == 'v' && i == 0 || r == ',' || r == '+' || r == '/' || r == 'x' || r == '%' && i == len(w)-1:
		default:
			if end == len(w) {
				end = i
			}
		}
	}
	if digits == 0 || end == 0 {
		return w
	}
	switch unit := w[end:]; {
	case unit == "gb" || unit == "gib" || unit == "g" || unit == "mb" || unit == "mib" || unit == "go":
		return "#gb"
	case unit == "th" || unit == "nd" || unit == "rd" || unit == "st":
		return "#th"
	case strings.HasSuffix(w, "%"):
		return "#%"
	case w == "137":
		return "#137"
	case points >= 2 || w[0] == 'v' && points > 0:
		return "#ver"
	case w == "0" || w == "1":
		return w
	case unit == "" && strings.ContainsRune(w, 'x'):
		return "#x#"
	case unit == "" || unit == "k":
		return "#"
	}
	return w
}

// endings are cut from a word, so that its forms are one feature.
var endings = []string{"ing", "ed", "es", "s", "ly"}

func stemOf(w string) string {
	for _, e := range endings {
		if len(w) > len(e)+3 && strings.HasSuffix(w, e) {
			return w[:len(w)-len(e)]
		}
	}
	return w
}

// meanings are the notions of whole words, and of what words begin with. They are made when they are first asked for: the monitor reads no posts.
var meanings = sync.OnceValues(func() (whole, begin map[string][]int) {
	whole, begin = map[string][]int{}, map[string][]int{}
	for i, n := range notions {
		for _, w := range strings.Fields(n.words) {
			if stem, is := strings.CutSuffix(w, "*"); is {
				begin[stem] = append(begin[stem], i)
			} else {
				whole[w] = append(whole[w], i)
			}
		}
	}
	return whole, begin
})

func notionsOf(w string) (list []int) {
	whole, begin := meanings()
	list = append(list, whole[w]...)
	for n := 2; n <= len(w); n++ {
		list = append(list, begin[w[:n]]...)
	}
	return list
}

// hash is FNV-1a.
func hash(kind uint32, word string) uint32 {
	h := (offset ^ kind) * prime
	for i := range len(word) {
		h = (h ^ uint32(word[i])) * prime
	}
	return h
}

func pair(kind, a, b uint32) uint32 {
	h := (offset ^ kind) * prime
	for _, v := range [2]uint32{a, b} {
		for range 4 {
			h = (h ^ v&0xff) * prime
			v >>= 8
		}
	}
	return h
}

const offset, prime uint32 = 2166136261, 16777619
