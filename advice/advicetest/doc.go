// Package advicetest has simulated GPU boxes: scenes of jobs that live or die, on which the
// tests of alerts and reports count what was warned of and what was a false alarm.
package advicetest
