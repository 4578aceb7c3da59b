package main

import (
	"bytes"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// text is what stands on a screen.
func text(grid [][]cell) string {
	var b strings.Builder
	for _, row := range grid {
		for _, c := range row {
			if c.char != 0 {
				b.WriteRune(c.char)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// What captions say can be seen: their figures, whose job it is, the alert and its advice.
func TestStory(t *testing.T) {
	frames, err := playStory(100, 30)
	if err != nil {
		t.Fatal(err)
	}
	figures := regexp.MustCompile(`\d+\.\d|\d{2,}|bob`)
	before := ""
	for i, f := range frames {
		screen := text(f.grid)
		if len(f.grid) != 30 || screen == before {
			t.Errorf("frame %d has %d rows, or is the one before", i, len(f.grid))
		}
		for _, figure := range figures.FindAllString(f.caption, -1) {
			if !strings.Contains(screen, figure) {
				t.Errorf("frame %d: %q tells of %s, which is not on the screen:\n%s", i, f.caption, figure, screen)
			}
		}
		if i < storyStill && strings.Contains(screen, "80415 (") {
			t.Errorf("frame %d has an alert before that of the story", i)
		}
		before = screen
	}
	if alert := text(frames[storyStill].grid); !strings.Contains(alert, "80415 (") {
		t.Errorf("no alert names process 80415:\n%s", alert)
	}
	advice := text(frames[len(frames)-1].grid)
	if !strings.Contains(advice, "kill 80415") {
		t.Errorf("the advice has no command for process 80415:\n%s", advice)
	}
	for _, line := range alertOfReadme(t) {
		if !strings.Contains(advice, line) {
			t.Errorf("README.md shows an alert with the line %q, the story has\n%s", line, advice)
		}
	}
}

// alertOfReadme is the lines of the alert that the README shows as text.
func alertOfReadme(t *testing.T) (lines []string) {
	t.Helper()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, alert, ok := strings.Cut(string(readme), "```text\n  ! ")
	if !ok {
		t.Fatal("README.md shows no alert")
	}
	alert, _, _ = strings.Cut(alert, "```")
	for _, line := range strings.Split(strings.TrimSpace(alert), "\n") {
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

// The film is XML with each of its frames and the rows that they use, without a script, and
// the same at every run.
func TestFilm(t *testing.T) {
	draw := func() string {
		var b bytes.Buffer
		if err := run([]string{"-story", "-cols", "90", "-rows", "24"}, &b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	film := draw()
	if film != draw() {
		t.Error("two runs give two films")
	}
	checkXML(t, film)
	if got := strings.Count(film, `<g class="f" id="f`); got != len(story) {
		t.Errorf("%d frames, want %d", got, len(story))
	}
	if got := strings.Count(film, "@keyframes k"); got != len(story) {
		t.Errorf("%d of %d frames are animated", got, len(story))
	}
	for _, use := range regexp.MustCompile(`href="#(\w+)"`).FindAllStringSubmatch(film, -1) {
		if strings.Count(film, `<defs><g id="`+use[1]+`">`) != 1 {
			t.Fatalf("row %s is used and not in the file once", use[1])
		}
	}
	for _, never := range []string{"<script", "<foreignObject", "http://", "https://", "url("} {
		if strings.Contains(strings.Replace(film, "http://www.w3.org/2000/svg", "", 1), never) {
			t.Errorf("the film has %s, which does not work in the picture of a README", never)
		}
	}
}

// The pictures in the repository are those that docs/picture.sh draws now.
func TestPicturesAreCurrent(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("where a multiplication and an addition are one instruction, a figure may be rounded otherwise")
	}
	script, err := os.ReadFile("../picture.sh")
	if err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`(?m)^go run \./docs/picture (.*)> docs/(\w+\.svg)$`).FindAllStringSubmatch(string(script), -1)
	if len(lines) == 0 {
		t.Fatal("docs/picture.sh draws nothing")
	}
	for _, line := range lines {
		var now bytes.Buffer
		if err := run(strings.Fields(line[1]), &now); err != nil {
			t.Fatal(err)
		}
		kept, err := os.ReadFile("../" + line[2])
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(kept, now.Bytes()) {
			t.Errorf("docs/%s shows another screen than the program does now: sh docs/picture.sh", line[2])
		}
		if len(kept) > 400_000 {
			t.Errorf("docs/%s has %d bytes: too many for a README", line[2], len(kept))
		}
	}
}
