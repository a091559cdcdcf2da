// Command bench runs all benchmarks, passes on their output, and compares the allocations per operation with the
// figures of the last release. Times depend on the machine and its load; allocations hardly do.
//
//	go run ./.ci/bench        # compare; fails if something allocates more
//	go run ./.ci/bench -save  # write new figures to .ci/bench/figures
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

const (
	kept = ".ci/bench/figures" // the figures of the last release

	// The number of processors for the measurements: concurrent work allocates more. go test appends the number to the
	// names.
	processors = "2"
)

func main() {
	save := flag.Bool("save", false, "write "+kept+" again instead of comparing with it")
	flag.Parse()
	if err := run(*save); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run returns an error if a benchmark failed, or if one allocates more than it did.
func run(save bool) error {
	old := figures{}
	if !save {
		f, err := os.Open(kept)
		if err != nil {
			return fmt.Errorf("%w; make bench SAVE=1 writes it", err)
		}
		old, err = readFigures(f)
		_ = f.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", kept, err)
		}
	}
	now, err := benchmark(os.Stdout, usual)
	if err != nil {
		return err
	}
	if !save {
		return report(os.Stdout, compare(old, now), len(now))
	}
	again, err := benchmark(os.Stdout, short)
	if err != nil {
		return err
	}
	return write(now.with(again))
}

// How long each benchmark repeats its operation. Saved figures are measured with both durations, which shows how much a
// figure depends on the number of repetitions: a busy machine makes fewer.
const (
	usual = 100 * time.Millisecond
	short = usual / 5
)

// benchmark runs all benchmarks and returns their allocations; it copies their output to out.
func benchmark(out io.Writer, repeat time.Duration) (figures, error) {
	cmd := exec.Command("go", "test", "-vet=off", "-run", "^$", "-bench", ".", "-benchmem", "-benchtime", repeat.String(), "-cpu", processors, "-timeout", "1h", "./...")
	cmd.Stderr = os.Stderr
	printed, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	all, err := readBenchmarks(io.TeeReader(printed, out))
	if failed := cmd.Wait(); failed != nil {
		return nil, fmt.Errorf("go test: %w; the lines above with FAIL name the failing benchmarks", failed)
	}
	return all, err
}
