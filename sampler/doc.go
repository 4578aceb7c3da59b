// Package sampler holds the words of measuring and the pure logic over them.
// It imports the standard library and one system call only; the outside world comes in through its
// sub-packages (nvml, uprobe, torch, torchsnap, demo, tape, proc, oomlog, post, trainlog, fleet), each of which
// speaks these words. Package history keeps what was seen.
//
//	Source ──► Loop ──► Snapshot ──► Watermarks, history, advice, every screen
//
// A Source answers single questions about devices. The Loop polls them:
// memory of all devices fast (20 ms; quiet GPUs every 200 ms) on a thread of its own, that of slow ones apart from
// the others, expensive calls once a second. Once per interval it publishes a Snapshot, which is never changed
// afterwards. Everything later is a fold over snapshots, so a live run, a replay
// and a report give the same findings. For the eye alone there are early pictures
// between two snapshots, when memory reaches a new height (Loop.NextOrPeak).
//
// All times in snapshots are of one clock that goes on evenly (Steady), whatever is done to the
// time of day. Snapshot.Wall has that, for people and other programs.
//
// What is not known is absent (Opt), never 0 and never 2^64-1.
package sampler
