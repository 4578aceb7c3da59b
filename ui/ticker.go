package ui

import (
	"reflect"
	"time"

	tea "charm.land/bubbletea/v2"
)

// stopTicker stops the ticker of Bubble Tea's renderer, which there is even without a renderer: it wakes the program
// each second, for nothing. No option turns it off. It is called from the loop of the program that runs, and says
// whether there was one.
func stopTicker(p *tea.Program) bool {
	field := reflect.ValueOf(p).Elem().FieldByName("ticker")
	if field.IsValid() && field.Type() == reflect.TypeFor[*time.Ticker]() {
		if t := *(**time.Ticker)(field.Addr().UnsafePointer()); t != nil {
			t.Stop()
			return true
		}
	}
	return false
}
