// Package uprobe sees the calls that programs make to the CUDA driver: uprobes on libcuda, of every process on the
// machine, without a restart and without its help. It needs the right to load BPF programs.
package uprobe
