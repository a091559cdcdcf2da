package lsp

import (
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"testing"
	"time"

	"buddy/features/lsp/lsptest"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "server" {
		runServer(os.Args[2], append(os.Args[3:], "")[0])
		os.Exit(0)
	}
	if len(os.Args) > 3 && os.Args[1] == "owner" {
		runOwner(os.Args[2], os.Args[3])
	}
	if len(os.Args) > 1 && os.Args[1] == "sleep" {
		signal.Ignore(syscall.SIGTERM)
		time.Sleep(time.Hour)
	}
	os.Exit(m.Run())
}

// runServer runs a server as a program. A stubborn one starts a child, writes both process ids to the file arg, and
// ignores everything but SIGKILL.
func runServer(mode, arg string) {
	if mode == lsptest.Stubborn {
		signal.Ignore(syscall.SIGTERM)
		c := exec.Command(os.Args[0], "sleep")
		if err := c.Start(); err != nil {
			panic(err)
		}
		pids := strconv.Itoa(os.Getpid()) + " " + strconv.Itoa(c.Process.Pid)
		if err := os.WriteFile(arg+".new", []byte(pids), 0o600); err != nil {
			panic(err)
		}
		if err := os.Rename(arg+".new", arg); err != nil {
			panic(err)
		}
	}
	s := &lsptest.Server{Mode: mode, Arg: arg}
	s.Serve(os.Stdin, os.Stdout)
	if mode == lsptest.Stubborn {
		time.Sleep(time.Hour)
	}
}
