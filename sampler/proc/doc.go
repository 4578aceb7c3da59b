// Package proc says who the processes on a GPU are: user, name, command, start time,
// host memory, CPU, container, environment and framework, read directly from /proc.
//
//	pid ──► stat ──► known (pid, start time, name)? ──yes──► memory and CPU only
//	                     │ no
//	                     ├─► status   user
//	                     ├─► cmdline  command
//	                     ├─► cgroup   container
//	                     ├─► environ  memory and device variables (own processes only)
//	                     └─► maps     framework, when the command does not say it
//
// Reading and parsing are apart: files are read below Options.Root, so a fixture tree
// serves as /proc, and every parser takes bytes. What is found is passed on as it is:
// names and commands may hold escape sequences and invalid UTF-8, the Loop cleans them.
package proc
