// Command budget runs a command and prints the processor seconds of the command and all of its descendants, in units of
// a fixed piece of work that it times itself, so that machines of different speed give similar numbers. Wall time means
// little on a busy machine.
//
//	go run ./.ci/budget test -- make everything
//
// The limits are in .ci/budget/limits, one line "name seconds" each; above it, budget fails. Processes that
// outlive the command are listed: a test failed to end them.
package main

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) < 4 || os.Args[2] != "--" {
		fmt.Fprintln(os.Stderr, "usage: budget NAME -- COMMAND [ARGUMENT…]")
		os.Exit(2)
	}
	code, err := run(os.Args[1], os.Args[3:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "budget:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// run returns the exit code of the command, and an error if it took more than the limit.
func run(name string, argv []string) (code int, err error) {
	limit, err := limitOf(name)
	if err != nil {
		return 1, err
	}
	adoptOrphans()
	before := fixedWork()
	began := time.Now()
	code, err = runReaping(argv)
	took := time.Since(began)
	left := leftBehind()
	raw := childrenSeconds()
	speed := (before + fixedWork()) / 2
	scaled := raw / speed
	fmt.Printf("%s: %.0f CPU seconds, %.0f scaled (limit %.0f; the fixed work took %.2f s), %.0f s on the clock\n",
		name, raw, scaled, limit, speed, took.Seconds())
	for _, p := range left {
		fmt.Printf("%s: still running: %s\n", name, p)
	}
	if err == nil && code == 0 && scaled > limit {
		err = fmt.Errorf("%s took %.0f scaled CPU seconds, %.0f is the limit (.ci/budget/limits): make something faster, or move heavy tests to make counterparts", name, scaled, limit)
	}
	return code, err
}

// runReaping runs a command to its end and returns its exit code. It reaps adopted descendants as soon as they end,
// because tests wait for processes to disappear.
func runReaping(argv []string) (code int, err error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return 1, fmt.Errorf("wait for %s: %w", argv[0], err)
		case pid != cmd.Process.Pid:
		case status.Signaled():
			return 128 + int(status.Signal()), nil
		default:
			return status.ExitStatus(), nil
		}
	}
}

// limitOf reads the limit of name, in scaled seconds.
func limitOf(name string) (float64, error) {
	const file = ".ci/budget/limits"
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if words := strings.Fields(lines.Text()); len(words) == 2 && words[0] == name {
			return strconv.ParseFloat(words[1], 64)
		}
	}
	return 0, fmt.Errorf("%s has no line for %q", file, name)
}

// fixedWork returns the CPU seconds per processor of a fixed piece of work, done on all processors at once like the
// tests. It is about a second on the machine on which the limits were measured.
func fixedWork() float64 {
	before := selfSeconds()
	n := runtime.NumCPU()
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			sum := sha256.Sum256(nil)
			words := make([]string, 0, 1<<14)
			for range 280 {
				words = words[:0]
				for i := range 1 << 14 {
					sum[0], sum[1] = byte(i), byte(i>>8)
					sum = sha256.Sum256(sum[:])
					words = append(words, string(sum[:8]))
				}
				slices.Sort(words)
			}
		})
	}
	all.Wait()
	return (selfSeconds() - before) / float64(n)
}

func selfSeconds() float64     { return seconds(syscall.RUSAGE_SELF) }
func childrenSeconds() float64 { return seconds(syscall.RUSAGE_CHILDREN) }

func seconds(who int) float64 {
	var u syscall.Rusage
	if syscall.Getrusage(who, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// adoptOrphans makes this process the parent of orphaned descendants (Linux only), so that daemons count as well.
func adoptOrphans() {
	const setChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER of prctl(2)
	if runtime.GOOS == "linux" {
		_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0)
	}
}

// leftBehind reaps ended descendants, waiting a little for those that are about to end, and returns the names of the
// others.
func leftBehind() []string {
	var left []string
	for range 20 {
		for {
			if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); err != nil || pid <= 0 {
				break
			}
		}
		if left = children(); len(left) == 0 {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return left
}

// children lists the command lines of this process's children (Linux only).
func children() []string {
	var list []string
	pids, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range pids {
		stat, err := os.ReadFile(dir + "/stat")
		if err != nil {
			continue
		}
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid()) {
			line, _ := os.ReadFile(dir + "/cmdline")
			list = append(list, filepath.Base(dir)+" "+strings.ReplaceAll(strings.TrimRight(string(line), "\x00"), "\x00", " "))
		}
	}
	return list
}
