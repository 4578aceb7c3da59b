package main

import (
	"fmt"
	"html"
	"io"
	"strings"
	"time"
)

const captionH = 30 // of the strip below the screen

// writeFilm draws frames one after another, endlessly, in CSS alone: pictures of a README may
// not have scripts. Rows that frames have in common are in the file once. still is the frame for
// viewers that do not move, or whose reader does not want it.
func writeFilm(w io.Writer, frames []frame, still int, title string) error {
	var b strings.Builder
	width, height := size(frames[0].grid)
	writeHead(&b, width, height+captionH, title)
	writeStyle(&b, frames, still)
	defined := map[string]int{}
	for i, f := range frames {
		var uses strings.Builder
		for y, row := range f.grid {
			var drawn strings.Builder
			writeRow(&drawn, row, 0, 0)
			id, known := defined[drawn.String()]
			if !known {
				id = len(defined)
				defined[drawn.String()] = id
				fmt.Fprintf(&b, "<defs><g id=\"r%d\">\n%s</g></defs>\n", id, drawn.String())
			}
			if drawn.Len() > 0 {
				fmt.Fprintf(&uses, `<use href="#r%d" x="%d" y="%d"/>`+"\n", id, margin, margin+y*cellH)
			}
		}
		fmt.Fprintf(&b, "<g class=\"f\" id=\"f%d\">\n%s", i, uses.String())
		writeCaption(&b, f.caption, i, len(frames), width, height)
		b.WriteString("</g>\n")
	}
	b.WriteString("</g>\n</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// writeStyle says when each frame is visible.
func writeStyle(b *strings.Builder, frames []frame, still int) {
	var whole, at time.Duration
	for _, f := range frames {
		whole += f.hold
	}
	share := func(d time.Duration) float64 { return float64(d.Milliseconds()*10000/whole.Milliseconds()) / 100 }
	fmt.Fprintf(b, "<style>\n.f{visibility:hidden;animation:%dms step-end infinite}\n#f%d{visibility:visible}\n", whole.Milliseconds(), still)
	for i, f := range frames {
		// Before, from its time on, and until the next one: also of the one that is seen without animation.
		fmt.Fprintf(b, "#f%d{animation-name:k%[1]d}@keyframes k%[1]d{0%%{visibility:hidden}%g%%{visibility:visible}", i, share(at))
		at += f.hold
		fmt.Fprintf(b, "%g%%,to{visibility:hidden}}\n", share(at))
	}
	b.WriteString("@media(prefers-reduced-motion:reduce){.f{animation:none}}\n</style>\n")
}

// writeCaption draws the line below the screen, and a mark for each frame of which this one's is lit.
func writeCaption(b *strings.Builder, caption string, number, of, width, height int) {
	const mark, gap = 10, 4
	fmt.Fprintf(b, `<text x="%d" y="%d" font-family="system-ui,sans-serif" font-size="14" fill="%s">%s</text>`+"\n",
		margin+cellW, height+captionH/2, ink, html.EscapeString(caption))
	for i := range of {
		opacity := 0.25
		if i == number {
			opacity = 1
		}
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="3" fill="%s" opacity="%g"/>`+"\n",
			width-margin-cellW-(of-i)*(mark+gap)+gap, height+captionH/2-6, mark, ink, opacity)
	}
}
