//go:build linux

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// player is a program that asks the fake driver for memory.
type player struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func play(env ...string) *player {
	p := &player{cmd: exec.Command(made+"/play", "/usr/lib/libcuda.so.1")}
	p.cmd.Env = append(append(os.Environ(), "FAKECUDA_SHARED="+shared, "FAKECUDA_CAPACITY=8589934592"), env...)
	p.in, _ = p.cmd.StdinPipe()   //nolint:errcheck // Start tells
	out, _ := p.cmd.StdoutPipe()  //nolint:errcheck // the same
	p.out = bufio.NewScanner(out) //
	if err := p.cmd.Start(); err != nil {
		exit(err)
	}
	return p
}

func (p *player) do(commands ...string) (said []string) {
	for _, c := range append(commands, "echo done") {
		fmt.Fprintln(p.in, c) //nolint:errcheck // the answers tell
	}
	for p.out.Scan() && p.out.Text() != "done" {
		said = append(said, p.out.Text())
	}
	return said
}

func (p *player) end(commands ...string) {
	for _, c := range commands {
		fmt.Fprintln(p.in, c) //nolint:errcheck // it ends
	}
	p.in.Close() //nolint:errcheck // the same
	for p.out.Scan() {
	}
	p.cmd.Wait() //nolint:errcheck // however it ended
}
