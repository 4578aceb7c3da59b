package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/mattn/go-runewidth"
)

// Colours of the picture where the screen leaves them to the terminal.
const (
	paper = "#16181f"
	ink   = "#d5d9e3"
)

// look is how a character is drawn. Empty colors are the terminal's.
type look struct {
	fore, back    string
	bold, reverse bool
}

// paint is the colors as they come out.
func (l look) paint() (fore, back string) {
	fore, back = or(l.fore, ink), or(l.back, paper)
	if l.reverse {
		return back, fore
	}
	return fore, back
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// cell is one column of the screen; char is 0 right of a wide character.
type cell struct {
	char rune
	look look
}

// parse reads lines of text with SGR sequences into rows of cells. Other escape
// sequences do not occur: the screen is a plain string.
func parse(text string, cols, rows int) [][]cell {
	var grid [][]cell
	var now look
	for _, line := range strings.Split(text, "\n") {
		if len(grid) == rows {
			break
		}
		row := make([]cell, 0, cols)
		for line != "" {
			if rest, ok := strings.CutPrefix(line, "\x1b["); ok {
				codes, after, _ := strings.Cut(rest, "m")
				now = now.apply(codes)
				line = after
				continue
			}
			char := []rune(line)[0]
			line = line[len(string(char)):]
			row = append(row, cell{char, now})
			for range runewidth.RuneWidth(char) - 1 {
				row = append(row, cell{0, now})
			}
		}
		grid = append(grid, row)
	}
	return grid
}

// apply is the look after one SGR sequence: bold, reverse, true colors and those of 256, which is all
// that themes use.
func (l look) apply(codes string) look {
	list := strings.Split(codes, ";")
	for i := 0; i < len(list); i++ {
		switch list[i] {
		case "", "0":
			l = look{}
		case "1":
			l.bold = true
		case "7":
			l.reverse = true
		case "39":
			l.fore = ""
		case "49":
			l.back = ""
		case "38", "48":
			if i+2 < len(list) && list[i+1] == "5" {
				n, _ := strconv.Atoi(list[i+2])
				r, g, b, _ := ansi.IndexedColor(n & 255).RGBA()
				*side(&l, list[i]) = fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
				i += 2
				continue
			}
			if i+4 >= len(list) || list[i+1] != "2" {
				continue
			}
			*side(&l, list[i]) = rgb(list[i+2 : i+5])
			i += 4
		}
	}
	return l
}

// side is the color that a parameter is about.
func side(l *look, parameter string) *string {
	if parameter == "38" {
		return &l.fore
	}
	return &l.back
}

func rgb(parts []string) string {
	var v [3]int
	for i, p := range parts {
		v[i], _ = strconv.Atoi(p)
	}
	return fmt.Sprintf("#%02x%02x%02x", v[0]&255, v[1]&255, v[2]&255)
}
