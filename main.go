// nvpeak is a terminal monitor for NVIDIA GPUs that keeps the true peak of their memory.
package main

import (
	"os"

	"nvpeak/ui/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:])) }
