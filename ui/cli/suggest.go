package cli

import (
	"fmt"
	"strings"
)

// noSuch is the error of a word that is none of the names, with the one that was probably meant.
func noSuch(what, word string, names []string) error {
	list := strings.Join(names, ", ")
	if near := nearest(word, names); near != "" {
		return fmt.Errorf("there is no %s %q: did you mean %s? There are %s", what, word, near, list)
	}
	return fmt.Errorf("there is no %s %q: %s", what, word, list)
}

// nearest is the name that was probably meant by a word, or empty: one that it is the only beginning of, or with one
// slip of the fingers for each four letters.
func nearest(word string, names []string) (near string) {
	word = strings.ToLower(word)
	most, least, begun := max(1, (len(word)+1)/4), 100, 0
	for _, name := range names {
		d := slips(word, strings.ToLower(name))
		if d > most || d >= len(name)-1 {
			continue
		}
		if d *= 2; len(name) != len(word) { // of two the one of the same length
			d++
		}
		if d < least {
			near, least = name, d
		}
	}
	if near != "" || len(word) < 3 {
		return near
	}
	for _, name := range names {
		if strings.HasPrefix(strings.ToLower(name), word) {
			near = name
			begun++
		}
	}
	if begun != 1 {
		return ""
	}
	return near
}

// slips is how many letters are left out, too many, wrong, or swapped with the next (the distance of Damerau and
// Levenshtein, each pair swapped at most once).
func slips(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
