// Package player plays a recording: any speed, any time, and the alerts, peaks and plots
// that the live monitor had at that time.
//
//	control ─► Player ─► Scene ─► front end
//	            │ ▲
//	  playhead ─┘ └─ index: marks, and states to go on from after a seek
//
// It draws nothing: it hands over scenes, which hold snapshots, folds and the timeline.
package player
