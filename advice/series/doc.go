// Package series knows the memory of one holder over time: a process on a GPU, what no
// process accounts for, the host. Alerts and reports ask it, so that both judge alike.
//
//	samples ─► Series ─┬─► settled level, first plateau
//	                   ├─► excursions ─► spikes ─► Pattern
//	                   └─► buckets of nine widths ─► Trend, Growth
package series
