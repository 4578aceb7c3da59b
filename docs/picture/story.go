package main

import (
	"time"

	"nvpeak/ui"
)

// A moment of the story is one frame: the screen after so much of the scenario and after
// the keys, with a line that says what happens.
type moment struct {
	past    time.Duration // of the scenario; no later than before: only keys are pressed
	keys    string
	hold    time.Duration // how long it is shown
	caption string        // each figure in it stands on the screen
}

// storyScenario is the one with a peak that everybody overlooks, somebody else's job, and an
// alert long before the failure.
const storyScenario = "neighbour"

// story is spike, alert, advice.
var story = []moment{
	{30 * time.Second, "", 2500 * time.Millisecond, "Training takes a third of each GPU. There seems to be plenty of room."},
	{47 * time.Second, "", 1500 * time.Millisecond, "Validation begins …"},
	{48 * time.Second, "", 2500 * time.Millisecond, "… and reaches 56.5 GiB for half a second. ▲ keeps the peak."},
	{110 * time.Second, "", 2500 * time.Millisecond, "It comes back every minute. What it leaves free stands below the bar."},
	{118 * time.Second, "", 2500 * time.Millisecond, "bob starts a job on GPU 1. Nothing fails yet."},
	{130 * time.Second, "", 3500 * time.Millisecond, "Alert, half a minute ahead: the next validation will not fit beside process 80415."},
	{134 * time.Second, "a", 3500 * time.Millisecond, "Key a: why, what to type, what it frees and what it costs."},
}

// storyStill is the moment that is shown where nothing moves.
const storyStill = 5

// A frame is a screen of the animated picture.
type frame struct {
	grid    [][]cell
	hold    time.Duration
	caption string
}

// playStory is the frames of the story.
func playStory(cols, rows int) ([]frame, error) {
	s, err := newStage(storyScenario, cols, rows, ui.Options{Theme: "dark", Label: "DEMO " + storyScenario})
	if err != nil {
		return nil, err
	}
	var frames []frame
	var past time.Duration
	for _, m := range story {
		if m.past > past {
			if err := s.until(m.past); err != nil {
				return nil, err
			}
			past = m.past
		}
		s.press(m.keys)
		frames = append(frames, frame{parse(s.screen(), cols, rows), m.hold, m.caption})
	}
	return frames, nil
}
