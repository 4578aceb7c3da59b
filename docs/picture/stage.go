package main

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"nvpeak/sampler"
	"nvpeak/sampler/demo"
	"nvpeak/ui"
)

// stage is the real screen over the real loop, which measures a scenario by a clock that
// stands still until it is set.
type stage struct {
	began time.Time
	clock *sampler.ScriptClock
	loop  *sampler.Loop
	model *ui.Model
}

// storyBegan is when every picture plays.
var storyBegan = time.Date(2026, 11, 20, 14, 3, 0, 0, time.UTC)

func newStage(scenario string, cols, rows int, opt ui.Options) (*stage, error) {
	clock := sampler.NewScriptClock(storyBegan)
	src, err := demo.New(scenario, clock)
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	loop := sampler.NewLoop(src, sampler.Options{Clock: clock, Host: src.Host()})
	if err := loop.Connect(ctx); err != nil {
		return nil, err
	}
	s := &stage{began: storyBegan, clock: clock, loop: loop, model: ui.New(ctx, loop, opt)}
	s.model.Update(tea.WindowSizeMsg{Width: cols, Height: rows})
	return s, nil
}

// until lets so much of the scenario pass, counted from its beginning.
func (s *stage) until(past time.Duration) error {
	d := s.began.Add(past).Sub(s.clock.Now())
	if d < s.loop.Interval() {
		return fmt.Errorf("%v after the beginning is less than a snapshot later than what is shown", past)
	}
	s.loop.Simulate(s.clock, d)
	s.model.Update(s.model.Init()()) // the theme is fixed: Init only waits for the snapshots
	return nil
}

// press presses keys, each of them a letter.
func (s *stage) press(keys string) {
	for _, key := range keys {
		s.model.Update(tea.KeyPressMsg{Code: key, Text: string(key)})
	}
}

// screen is the colored screen.
func (s *stage) screen() string { return s.model.View().Content }

// playFleet is the colored screen of several machines as it opens; their past is their own.
func playFleet(name string, cols, rows int, opt ui.Options) (string, error) {
	opt.Now = func() time.Time { return storyBegan }
	f, err := demo.NewFleet(name, opt.Now)
	if err != nil {
		return "", err
	}
	m := ui.NewFleet(context.Background(), f, opt)
	m.Update(tea.WindowSizeMsg{Width: cols, Height: rows})
	m.Update(m.Init()())
	return m.View().Content, nil
}

// play is the colored screen after the past of a scenario.
func play(scenario string, cols, rows int, past time.Duration, opt ui.Options) (string, error) {
	if demo.IsFleet(scenario) {
		return playFleet(scenario, cols, rows, opt)
	}
	s, err := newStage(scenario, cols, rows, opt)
	if err != nil {
		return "", err
	}
	if err := s.until(past); err != nil {
		return "", err
	}
	return s.screen(), nil
}
