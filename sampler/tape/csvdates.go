package tape

import (
	"strings"
	"time"
)

// csvDates reads the times of a log. nvidia-smi begins with the year; spreadsheets write a log
// anew with the day first, or the month.
type csvDates struct{ monthFirst bool }

var (
	yearFirstForms  = []string{"2006/1/2 15:04:05", "2006/1/2 15:04"}
	dayFirstForms   = []string{"2/1/2006 15:04:05", "2/1/2006 15:04", "2/1/2006 3:04:05 PM", "2/1/2006 3:04 PM"}
	monthFirstForms = []string{"1/2/2006 15:04:05", "1/2/2006 15:04", "1/2/2006 3:04:05 PM", "1/2/2006 3:04 PM"}
)

var dateMarks = strings.NewReplacer(".", "/", "-", "/", ",", "")

// parse reads a time. Which of day and month is first is known from the first date that leaves no
// choice on; before that it is the day, which is noted.
func (d *csvDates) parse(text string, m *meter) (time.Time, bool) {
	if at, ok := parseTime(text); ok {
		return at, true
	}
	date, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	text = dateMarks.Replace(date) + " " + strings.TrimSpace(rest)
	if at, ok := parseForms(text, yearFirstForms); ok {
		return at, true
	}
	day, ok := parseForms(text, dayFirstForms)
	month, ok2 := parseForms(text, monthFirstForms)
	switch {
	case !ok && ok2:
		d.monthFirst = true
	case ok && !ok2:
		d.monthFirst = false
	}
	if ok && ok2 && !day.Equal(month) {
		m.flaws[unsureDate] = !strings.Contains(date, ".") // with points it is the day everywhere
	}
	if ok2 && (d.monthFirst || !ok) {
		return month, true
	}
	return day, ok
}

func parseForms(text string, forms []string) (time.Time, bool) {
	for _, form := range forms {
		if t, err := time.ParseInLocation(form, text, time.Local); err == nil && isTime(t) {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}
