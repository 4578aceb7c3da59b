package redact

import (
	"cmp"
	"slices"
	"strings"
)

// standIn is the first of the characters that stand for words which were typed: private, and no part of a name.
const (
	standIn      = '\ue000'
	mostStandIns = 256
)

// Quoting is Text for a message of the program's own that quotes words which were typed, such as the name of a file: a name in such
// a word makes no secret of what the message goes on with, `passwd: neither a recording`. Where the words tell of a secret only
// together, as an option and its value do, it is Text.
func Quoting(text string, typed []string) string {
	whole, single := strings.Join(typed, " "), make([]string, len(typed))
	for i, word := range typed {
		single[i] = Text(word)
	}
	if Text(whole) != strings.Join(single, " ") || strings.ContainsFunc(text, func(r rune) bool { return r >= standIn && r < standIn+mostStandIns }) {
		return Text(text)
	}
	words := quotable(typed, single)
	for i, word := range words {
		text = replaceWord(text, word, string(standIn+rune(i)))
	}
	text = Text(text)
	for i, word := range words {
		text = strings.ReplaceAll(text, string(standIn+rune(i)), Text(word))
	}
	return text
}

// quotable are the words as a message may have them, the longest first: whole, and the value of an option in which is no secret.
func quotable(typed, single []string) (words []string) {
	for i, word := range typed {
		words = append(words, word)
		if _, value, ok := strings.Cut(word, "="); ok && strings.HasPrefix(word, "-") && single[i] == word {
			words = append(words, value)
		}
	}
	words = slices.DeleteFunc(words, func(word string) bool { return len(word) < 2 })
	slices.SortFunc(words, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	words = slices.Compact(words)
	return words[:min(len(words), mostStandIns)]
}

// replaceWord replaces a word where it stands by itself.
func replaceWord(text, word, with string) string {
	inWord := func(c byte) bool { return nameByte(c) || c == '/' || c == '.' || c >= 0x80 }
	var b strings.Builder
	for {
		i := strings.Index(text, word)
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		end := i + len(word)
		if i > 0 && inWord(text[i-1]) || end < len(text) && inWord(text[end]) {
			b.WriteString(text[:i+1])
			text = text[i+1:]
			continue
		}
		b.WriteString(text[:i] + with)
		text = text[end:]
	}
}
