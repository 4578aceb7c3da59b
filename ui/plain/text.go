package plain

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"nvpeak/sampler"
)

// The forms of text that the screen, reports and tables share: widths, lines, times, sizes.

// columnWidth counts one column for line-drawing characters whatever the locale says, as
// terminals draw them.
var columnWidth = &runewidth.Condition{EastAsianWidth: false}

// Columns is how many terminal columns a text takes.
func Columns(s string) int { return columns(s) }

// Pad adds blanks up to a number of columns.
func Pad(s string, width int) string { return pad(s, width) }

// PadLeft puts the blanks before the text.
func PadLeft(s string, width int) string {
	return strings.Repeat(" ", max(0, width-columns(s))) + s
}

// columns is how many terminal columns a text takes.
func columns(s string) int { return columnWidth.StringWidth(s) }

// pad adds blanks up to a number of columns.
func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-columns(s)))
}

// cut shortens a text to a number of columns.
func cut(s string, width int) string {
	if columns(s) <= width {
		return s
	}
	return s[:fitting(s, width-1, columns)] + "…"
}

// fitting is the length in bytes of the longest beginning of s that takes at most width columns.
func fitting(s string, width int, columns func(string) int) int {
	used := 0
	for i := 0; i < len(s); {
		_, n := utf8.DecodeRuneInString(s[i:])
		if used += columns(s[i : i+n]); used > width {
			return i
		}
		i += n
	}
	return len(s)
}

// Wrap breaks a text into lines of at most width columns, at blanks and between wide
// characters; a single word that is longer is cut. columns measures a text as it will be drawn.
func Wrap(s string, width int, columns func(string) int) []string {
	var lines []string
	line, used := "", 0
	for _, piece := range pieces(s, columns) {
		word := strings.TrimRight(piece, " ")
		if used > 0 && used+columns(word) > width {
			lines = append(lines, strings.TrimRight(line, " "))
			line, used = "", 0
		}
		for columns(word) > width { // longer than a whole line
			n := fitting(word, width, columns)
			if n == 0 {
				_, n = utf8.DecodeRuneInString(word) // wider than the room
			}
			if n == len(word) {
				break
			}
			lines = append(lines, word[:n])
			word, piece = word[n:], piece[n:]
		}
		line, used = line+piece, used+columns(piece)
	}
	if line = strings.TrimRight(line, " "); line != "" || len(lines) == 0 {
		lines = append(lines, line)
	}
	return lines
}

// noLineStart are characters that must not begin a line in Chinese text.
const noLineStart = "，。；：、）”？！)"

// pieces are the parts between which a line may break: words with the blanks behind them, and
// single wide characters with the punctuation behind them.
func pieces(s string, columns func(string) int) (list []string) {
	from := 0
	blank, wide := false, false
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		isWide := columns(s[i:i+n]) == 2
		sticks := strings.ContainsRune(noLineStart, r)
		if i > from && !sticks && r != ' ' && (blank || wide || isWide) {
			list, from = append(list, s[from:i]), i
		}
		blank, wide = r == ' ', isWide
		i += n
	}
	if from < len(s) {
		list = append(list, s[from:])
	}
	return withUnits(list)
}

// units that stay with their number.
var units = []string{"B", "KiB", "MiB", "GiB", "TiB", "KB", "MB", "GB", "TB", "%", "W", "MHz", "°C", "ms", "s", "min", "h"}

// withUnits joins each number with the unit behind it.
func withUnits(pieces []string) []string {
	list := pieces[:0]
	for _, p := range pieces {
		if n := len(list); n > 0 && slices.Contains(units, strings.TrimRight(p, " .,;:)")) && isNumber(list[n-1]) {
			list[n-1] += p
			continue
		}
		list = append(list, p)
	}
	return list
}

// isNumber says whether a word is a figure, whatever stands before it.
func isNumber(word string) bool {
	word = strings.TrimLeft(strings.TrimRight(word, " "), "(~-+<>≤≥")
	_, err := strconv.ParseFloat(word, 64)
	return err == nil
}

// narrow replaces emoji, about whose width terminals disagree.
func narrow(r rune) rune {
	if r >= 0x1f000 && r < 0x20000 {
		return '?'
	}
	return r
}

// clock is a place on a timeline: "0:00", "12:05", "1:02:03".
func clock(t float64) string {
	s := int(math.Floor(t + 1e-6))
	if s < 3600 {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// Runtime is how long a process has run: "12:41", "3:12h", "4d07h".
func Runtime(d time.Duration) string {
	d = max(d, 0)
	h, m := int(d.Hours()), int(d.Minutes())%60
	switch {
	case d < time.Hour:
		return fmt.Sprintf("%d:%02d", m, int(d.Seconds())%60)
	case h < 48:
		return fmt.Sprintf("%d:%02dh", h, m)
	}
	return fmt.Sprintf("%dd%02dh", min(h/24, 9999), h%24)
}

// Latency is how long a call took, with a digit more than lasted: "3.1 us", "40.2 ms".
func Latency(seconds float64) string {
	switch {
	case seconds <= 0:
		return "N/A"
	case seconds < 1e-3:
		return fmt.Sprintf("%.1f us", seconds*1e6)
	case seconds < 1:
		return fmt.Sprintf("%.1f ms", seconds*1e3)
	}
	return fmt.Sprintf("%.1f s", seconds)
}

// size is an amount of memory, N/A where it is not known.
func size(o sampler.Opt[sampler.Bytes]) string {
	if b, ok := o.Value(); ok {
		return b.String()
	}
	return "N/A"
}

// free is headroom, which is never rounded up.
func free(o sampler.Opt[sampler.Bytes]) string {
	if b, ok := o.Value(); ok {
		return b.Few()
	}
	return size(o)
}

// signed is an amount that may be negative.
func signed(v float64) string {
	if v < 0 {
		return "-" + sampler.Bytes(-v).String()
	}
	return "+" + sampler.Bytes(v).String()
}
