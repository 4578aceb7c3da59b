package ui

import (
	"math"
	"strconv"
	"time"
)

// axis is the scale of a plot: labels in equal steps, round numbers, on rows that are equally far from each other.
type axis struct {
	top, step float64 // in the unit that is written; the top of the plot may be above the last label
	labels    int     // besides that of 0
}

// roundSteps are those between two labels, times a power of ten.
var roundSteps = []float64{1, 1.2, 1.4, 1.5, 1.6, 2, 2.4, 2.5, 3, 3.2, 3.5, 4, 4.5, 4.8, 5, 6, 7, 8, 10}

const (
	axisLabels = 5     // at most, besides that of 0
	axisRows   = 2     // between two labels at least
	axisSpare  = 8     // of so many rows one may be above the last label
	axisShort  = 0.997 // of the value the last label may be: 140 of 140.4
)

// axisFor is the axis that ends least above a value and has as many labels as so many rows from 0 to its top take.
func axisFor(value float64, rows int) axis {
	best := axis{}
	if !(value > 0) || math.IsInf(value, 1) {
		return best
	}
	most := max(1, min(axisLabels, rows/axisRows))
	size := math.Pow(10, math.Floor(math.Log10(value))-1)
	for range 3 {
		for _, s := range roundSteps {
			step := s * size
			if value >= 4 && step != math.Trunc(step) {
				continue // its labels would not be whole
			}
			n := math.Ceil(value / step * axisShort)
			if n < 1 || n > float64(most) || rows%int(n) > max(1, rows/axisSpare) {
				continue
			}
			a := axis{step * float64(rows) / float64(rows/int(n)), step, int(n)}
			if best.top == 0 || a.worth(value, rows) > best.worth(value, rows) {
				best = a
			}
		}
		size *= 10
	}
	if best.top == 0 {
		best = axis{value, value, 1}
	}
	return best
}

// worth is higher for an axis that ends near the value, by its last label and by its top, and has labels enough.
func (a axis) worth(value float64, rows int) float64 {
	few := math.Abs(float64(a.labels - min(rows/axisRows, axisLabels-1)))
	if a.labels == 1 {
		few += 0.5
	}
	return -2*(float64(a.labels)*a.step/value-1) - (a.top/value - 1) - 0.1*few
}

// label is a figure of the axis: a whole number where the steps are whole.
func (a axis) label(v float64) string {
	if a.step == math.Trunc(a.step) {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// timeSteps are those between two labels of a time axis, as parts of the span.
var timeSteps = []int{6, 5, 4, 3, 2, 1}

// timeLabelWidth is the room that a label of a time axis gets at least.
const timeLabelWidth = 14

// timeStep is the time between two labels on so many columns: the least that divides the span into times that
// read well.
func timeStep(span time.Duration, columns int) time.Duration {
	unit := 10 * time.Second
	switch {
	case span >= 2*time.Hour:
		unit = time.Hour
	case span >= 2*time.Minute:
		unit = 30 * time.Second
	}
	for _, n := range timeSteps {
		if step := span / time.Duration(n); n*timeLabelWidth <= columns && step%unit == 0 && span%step == 0 {
			return step
		}
	}
	return span
}

// timeLabel is a moment of a time axis, so long before now: "-5m", "-2m30".
func timeLabel(d time.Duration) string {
	switch d = d.Round(time.Second); {
	case d < time.Minute:
		return "-" + strconv.Itoa(int(d.Seconds())) + "s"
	case d < time.Hour && d%time.Minute != 0:
		return "-" + strconv.Itoa(int(d.Minutes())) + "m" + strconv.Itoa(int(d.Seconds())%60)
	case d < time.Hour:
		return "-" + strconv.Itoa(int(d.Minutes())) + "m"
	case d%time.Hour != 0:
		return "-" + strconv.Itoa(int(d.Hours())) + "h" + strconv.Itoa(int(d.Minutes())%60)
	}
	return "-" + strconv.Itoa(int(d.Hours())) + "h"
}
