package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// figure is what one operation of a benchmark allocates.
type figure struct{ bytes, allocs int64 }

// figures holds the figure of each benchmark, by package and name: "agent/redact Text/short".
type figures map[string]figure

// readBenchmarks reads what go test prints. A benchmark that says something between its name and
// its figures is not found.
func readBenchmarks(r io.Reader) (figures, error) {
	all := figures{}
	var pkg string
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if name, ok := strings.CutPrefix(lines.Text(), "pkg: "); ok {
			pkg = strings.TrimPrefix(strings.TrimPrefix(name, "buddy"), "/")
			continue
		}
		words := strings.Fields(lines.Text()) // BenchmarkText/short-2  1000  9 ns/op  512 B/op  3 allocs/op
		if len(words) < 4 || !strings.HasPrefix(words[0], "Benchmark") {
			continue
		}
		var f figure
		for i := 2; i+1 < len(words); i += 2 {
			n, err := strconv.ParseInt(words[i], 10, 64)
			switch {
			case words[i+1] == "B/op" && err == nil:
				f.bytes = n
			case words[i+1] == "allocs/op" && err == nil:
				f.allocs = n
			}
		}
		name := strings.TrimSuffix(strings.TrimPrefix(words[0], "Benchmark"), "-"+processors)
		all[strings.TrimSpace(pkg+" "+name)] = f
	}
	return all, lines.Err()
}

// readFigures reads what write wrote.
func readFigures(r io.Reader) (figures, error) {
	all := figures{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		words := strings.Fields(lines.Text())
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		if len(words) < 3 {
			return nil, fmt.Errorf("line %d: %q is not: PACKAGE NAME BYTES ALLOCATIONS", n, lines.Text())
		}
		last := len(words) - 2
		size, err := strconv.ParseInt(words[last], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("line %d: bytes: %w", n, err)
		}
		allocs, err := strconv.ParseInt(words[last+1], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("line %d: allocations: %w", n, err)
		}
		all[strings.Join(words[:last], " ")] = figure{size, allocs}
	}
	return all, lines.Err()
}

// write keeps figures, sorted, one benchmark a line.
func write(all figures) error {
	var text bytes.Buffer
	text.WriteString("# What an operation allocated at the last release: package, benchmark, bytes, allocations. make bench SAVE=1 writes it.\n")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&text, "%s %d %d\n", name, all[name].bytes, all[name].allocs)
	}
	return os.WriteFile(kept, text.Bytes(), 0o644)
}

// What a figure may move from run to run without being told: buffers that are reused or grow once
// weigh differently when an operation is repeated more or less often.
const (
	noiseRatio  = 1.1
	noiseBytes  = 256
	noiseAllocs = 4
)

// change is a benchmark that allocates otherwise than it did. One that is new has no old figure, one
// that is gone no new one.
type change struct {
	name     string
	kind     kind
	old, now figure
}

type kind string

const (
	worse  kind = "worse"
	better kind = "better"
	added  kind = "new"
	gone   kind = "gone"
)

// compare returns what moved by more than noise, what is worse first.
func compare(old, now figures) (all []change) {
	of := map[kind][]change{}
	names := maps.Clone(old)
	maps.Copy(names, now)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		before, had := old[name]
		after, has := now[name]
		k := kind("")
		switch {
		case !has:
			k = gone
		case !had:
			k = added
		case before.grownTo(after):
			k = worse
		case after.grownTo(before):
			k = better
		default:
			continue
		}
		of[k] = append(of[k], change{name, k, before, after})
	}
	return slices.Concat(of[worse], of[better], of[added], of[gone])
}

// grownTo reports whether g allocates more than f by more than noise, in bytes or in number.
func (f figure) grownTo(g figure) bool {
	more := func(f, g, least int64) bool { return g-f > least && float64(g) > float64(f)*noiseRatio }
	return more(f.bytes, g.bytes, noiseBytes) || more(f.allocs, g.allocs, noiseAllocs)
}

// report prints a table of the changes, and returns an error if something became worse.
func report(out io.Writer, changes []change, n int) error {
	count := map[kind]int{}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	if len(changes) > 0 {
		_, _ = fmt.Fprintln(table, "\tB/op\tbefore\tratio\tallocs/op\tbefore\tratio\t  benchmark")
	}
	for _, c := range changes {
		count[c.kind]++
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t  %s\n", c.kind,
			shown(c.now.bytes, c.kind != gone), shown(c.old.bytes, c.kind != added), ratio(c.old.bytes, c.now.bytes, c.kind),
			shown(c.now.allocs, c.kind != gone), shown(c.old.allocs, c.kind != added), ratio(c.old.allocs, c.now.allocs, c.kind), c.name)
	}
	_ = table.Flush()
	_, _ = fmt.Fprintf(out, "%d benchmarks: %d worse, %d better, %d new, %d gone since the figures of %s\n", n, count[worse], count[better], count[added], count[gone], kept)
	if count[worse] > 0 {
		return fmt.Errorf("%d benchmarks allocate more than at the last release: mend that, or say why and keep the new figures with make bench SAVE=1", count[worse])
	}
	return nil
}

func shown(n int64, there bool) string {
	if !there {
		return "-"
	}
	return strconv.FormatInt(n, 10)
}

// ratio returns how many times as much there is now.
func ratio(old, now int64, k kind) string {
	if k == added || k == gone || old == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", float64(now)/float64(old))
}
