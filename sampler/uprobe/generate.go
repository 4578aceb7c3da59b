package uprobe

// The objects are kept in the repository, so that nobody needs clang to build. After a change of
// probe.c: install clang, llvm and libbpf-dev, then go generate ./sampler/uprobe
//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -tags linux -target amd64,arm64 probe probe.c -- -I/usr/include/x86_64-linux-gnu -Wall
