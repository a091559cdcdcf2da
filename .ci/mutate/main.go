// Command mutate makes small faults in a package, one at a time, and lists those that no test of the package notices:
// they are in code that the tests execute but do not check.
//
//	go run ./.ci/mutate -most 50 ./agent/redact
//	go run ./.ci/mutate -only 'pem.go:5[0-9].* number' ./agent/redact
//
// The faulty file is passed to the compiler with go test -overlay, so the tree does not change. The tests really run
// with the fault: test a package that removes files or ends processes only on a disposable machine.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

func main() {
	most := flag.Int("most", 100, "how many `faults` to try, chosen at random but the same each time; 0 for all")
	only := flag.String("only", "", "`regexp` of the faults to try, as they are printed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := errors.New("usage: mutate [-most n] [-only regexp] package")
	if flag.NArg() == 1 {
		err = run(ctx, flag.Arg(0), *most, *only)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// run tries at most most faults in a package and prints those that no test notices.
func run(ctx context.Context, pkg string, most int, only string) error {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	t := &tester{pkg: pkg, dir: dir}
	covered, err := t.clean(ctx)
	if err != nil {
		return err
	}
	all, err := faultsOf(ctx, pkg)
	if err != nil {
		return err
	}
	found := len(all)
	all = slices.DeleteFunc(all, func(f fault) bool { return !wanted.MatchString(f.String()) })
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	if most > 0 {
		all = all[:min(most, len(all))]
	}
	slices.SortFunc(all, func(a, b fault) int { return cmp.Or(strings.Compare(a.file, b.file), a.from-b.from) })
	count := map[outcome]int{}
	for _, f := range all {
		end := unreached
		if covered.runs(f) {
			if end, err = t.try(ctx, f); err != nil {
				return err
			}
		}
		if count[end]++; end == unnoticed || end == unreached {
			fmt.Printf("%s: %s\n", f, end)
		}
	}
	fmt.Printf("%s: %d of %d faults tried: %d noticed, %d unnoticed, %d in code that no test runs, %d that do not compile\n",
		pkg, len(all), found, count[noticed], count[unnoticed], count[unreached], count[broken])
	return nil
}

// outcome tells whether the tests noticed a fault.
type outcome string

const (
	noticed   outcome = "noticed"
	unnoticed outcome = "unnoticed"
	unreached outcome = "no test runs this"
	broken    outcome = "does not compile"
)

// tester runs the tests of a package with faults.
type tester struct {
	pkg     string
	dir     string // for its files
	timeout time.Duration
}

// limited runs a test with bounded memory, because a fault may make a loop endless.
const limited = `sh -c 'ulimit -v 8388608 2>/dev/null; exec "$0" "$@"'`

// clean runs the tests without a fault, to measure their duration and coverage.
func (t *tester) clean(ctx context.Context) (coverage, error) {
	profile := filepath.Join(t.dir, "cover")
	out, err := exec.CommandContext(ctx, "go", "test", "-vet=off", "-count=1", "-exec", limited, "-coverprofile", profile, t.pkg).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("the tests of %s fail without a fault: %w\n%s", t.pkg, err, out)
	}
	if words := strings.Fields(string(out)); len(words) > 2 && words[0] == "ok" { // ok package 1.2s
		took, err := time.ParseDuration(words[2])
		if err != nil {
			return nil, fmt.Errorf("the tests of %s: %w", t.pkg, err)
		}
		t.timeout = 10 * took
	}
	t.timeout = max(t.timeout, 2*time.Second)
	return readCoverage(profile)
}

// try runs the tests with a fault.
func (t *tester) try(ctx context.Context, f fault) (outcome, error) {
	source, overlay := filepath.Join(t.dir, "source.go"), filepath.Join(t.dir, "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{f.file: source}})
	if err == nil {
		err = errors.Join(os.WriteFile(source, f.apply(), 0o600), os.WriteFile(overlay, replace, 0o600))
	}
	if err != nil {
		return "", err
	}
	out, err := exec.CommandContext(ctx, "go", "test", "-vet=off", "-count=1", "-failfast", "-exec", limited,
		"-timeout", t.timeout.String(), "-overlay", overlay, t.pkg).CombinedOutput()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err == nil:
		return unnoticed, nil
	case !errors.As(err, &exit):
		return "", err
	case strings.Contains(string(out), "[build failed]"):
		return broken, nil
	}
	return noticed, nil
}
