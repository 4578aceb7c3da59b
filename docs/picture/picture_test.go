package main

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler/demo"
	"nvpeak/ui"
)

func TestParse(t *testing.T) {
	plain := look{}
	for _, tt := range []struct {
		name, text string
		want       []cell
	}{
		{"plain", "ab", []cell{{'a', plain}, {'b', plain}}},
		{"color and reset", "\x1b[38;2;255;0;16ma\x1b[mb", []cell{{'a', look{fore: "#ff0010"}}, {'b', plain}}},
		{"bold, background", "\x1b[1;48;2;1;2;3ma", []cell{{'a', look{back: "#010203", bold: true}}}},
		{"one color ends", "\x1b[1;38;2;9;9;9ma\x1b[39mb", []cell{{'a', look{fore: "#090909", bold: true}}, {'b', look{bold: true}}}},
		{"one of 256", "\x1b[38;5;209;48;5;236ma", []cell{{'a', look{fore: "#ff875f", back: "#303030"}}}},
		{"wide", "好b", []cell{{'好', plain}, {0, plain}, {'b', plain}}},
		{"cut short", "\x1b[38;2;9ma", []cell{{'a', plain}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := parse(tt.text, 10, 1)[0]
			if len(got) != len(tt.want) {
				t.Fatalf("%d cells, want %d", len(got), len(tt.want))
			}
			for i := range got {
				if got[i] != tt.want[i] {
					t.Errorf("cell %d is %+v, want %+v", i, got[i], tt.want[i])
				}
			}
		})
	}
}

func TestShift(t *testing.T) {
	var b strings.Builder
	shift(&b, "M4 0V17M0 8.5H4Q4 8.5 8 0", 10, 100)
	if got, want := b.String(), "M14 100V117M10 108.5H14Q14 108.5 18 100"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A full cell and the half one after it are one rectangle of a cell and a half.
func TestBarsHaveNoSeams(t *testing.T) {
	var b strings.Builder
	writeRun(&b, []cell{{char: '█'}, {char: '▌'}, {char: '▎'}}, 0, 0)
	got := b.String()
	for _, want := range []string{`x="0" y="1" width="12"`, `x="16" y="1" width="2"`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

// Full cells are one dash after another, and dots apart are lines of their own.
func TestDots(t *testing.T) {
	var b strings.Builder
	writeRun(&b, []cell{{char: '⣿'}, {char: '⡇'}, {char: '⢀'}}, 0, 16)
	want := `d="M0 17.5h12M0 21.5h12M0 25.5h12M0 29.5h12M20 29.5h4"`
	if got := b.String(); !strings.Contains(got, want) {
		t.Errorf("no %s in\n%s", want, got)
	}
}

// Every scenario gives a screen that fills its size, the same at every run, and valid XML.
func TestPictures(t *testing.T) {
	for _, s := range slices.Concat(demo.Scenarios(), demo.Fleets()) {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			draw := func() string {
				screen, err := play(s.Name, 100, 30, 5*time.Second, ui.Options{Theme: "dark", Label: "DEMO & <" + s.Name + ">"})
				if err != nil {
					t.Fatal(err)
				}
				grid := parse(screen, 100, 30)
				if len(grid) != 30 {
					t.Fatalf("%d rows, want 30", len(grid))
				}
				for y, row := range grid {
					if len(row) != 100 {
						t.Errorf("row %d has %d columns, want 100", y, len(row))
					}
				}
				var svg strings.Builder
				if err := writeSVG(&svg, grid, "DEMO & <"+s.Name+">"); err != nil {
					t.Fatal(err)
				}
				return svg.String()
			}
			first := draw()
			if first != draw() {
				t.Error("two runs give two pictures")
			}
			checkXML(t, first)
		})
	}
}

func checkXML(t *testing.T, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
