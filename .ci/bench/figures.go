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

// figure holds the allocations of one operation of a benchmark.
type figure struct{ bytes, allocs measure }

// measure is the minimum and the maximum of the measurements. They vary: one-time allocations weigh less the more often
// an operation is repeated, and allocations of other goroutines count as well.
type measure struct{ least, most int64 }

func (m measure) with(n measure) measure { return measure{min(m.least, n.least), max(m.most, n.most)} }

// figures holds the figure of each benchmark, by package and name: "agent/redact Text/short".
type figures map[string]figure

// with returns the figures of two runs.
func (all figures) with(more figures) figures {
	both := maps.Clone(all)
	for name, f := range more {
		if g, ok := both[name]; ok {
			f = figure{f.bytes.with(g.bytes), f.allocs.with(g.allocs)}
		}
		both[name] = f
	}
	return both
}

// readBenchmarks reads the output of go test. It does not find a benchmark that prints between its name and its
// figures.
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
				f.bytes = measure{n, n}
			case words[i+1] == "allocs/op" && err == nil:
				f.allocs = measure{n, n}
			}
		}
		name := strings.TrimSuffix(strings.TrimPrefix(words[0], "Benchmark"), "-"+processors)
		all[strings.TrimSpace(pkg+" "+name)] = f
	}
	return all, lines.Err()
}

// readFigures reads the output of write.
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
		size, err := parseMeasure(words[last])
		if err != nil {
			return nil, fmt.Errorf("line %d: bytes: %w", n, err)
		}
		allocs, err := parseMeasure(words[last+1])
		if err != nil {
			return nil, fmt.Errorf("line %d: allocations: %w", n, err)
		}
		all[strings.Join(words[:last], " ")] = figure{size, allocs}
	}
	return all, lines.Err()
}

// parseMeasure reads "96" or "90-96".
func parseMeasure(text string) (m measure, err error) {
	least, most, ranges := strings.Cut(text, "-")
	if m.least, err = strconv.ParseInt(least, 10, 64); err != nil || !ranges {
		return measure{m.least, m.least}, err
	}
	m.most, err = strconv.ParseInt(most, 10, 64)
	return m, err
}

func (m measure) String() string {
	if m.least == m.most {
		return strconv.FormatInt(m.most, 10)
	}
	return fmt.Sprintf("%d-%d", m.least, m.most)
}

// write writes figures, sorted, one benchmark per line.
func write(all figures) error {
	var text bytes.Buffer
	text.WriteString("# What an operation allocated at the last release: package, benchmark, bytes, allocations. make bench SAVE=1 writes it.\n")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&text, "%s %s %s\n", name, all[name].bytes, all[name].allocs)
	}
	return os.WriteFile(kept, text.Bytes(), 0o644)
}

// Changes of a measure, beyond its range, that are not reported.
const (
	noise       = 0.1 // share of the value
	noiseBytes  = 256
	noiseAllocs = 4
)

// change is a benchmark whose allocations changed. A new benchmark has no old figure, a removed one no new figure.
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

// compare returns the changes above noise, worse ones first.
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
	return f.bytes.grownTo(g.bytes, noiseBytes) || f.allocs.grownTo(g.allocs, noiseAllocs)
}

// grownTo reports whether n is above the range of m by more than the range's width plus noise. Differences below least
// are ignored.
func (m measure) grownTo(n measure, least int64) bool {
	over := n.least - m.most
	return over > least && float64(over) > float64(m.most)*noise+float64(m.most-m.least)+float64(n.most-n.least)
}

// report prints a table of the changes, and returns an error if something got worse.
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
		return fmt.Errorf("%d benchmarks allocate more than at the last release: fix that, or say why and save the new figures with make bench SAVE=1", count[worse])
	}
	return nil
}

func shown(m measure, there bool) string {
	if !there {
		return "-"
	}
	return m.String()
}

// ratio returns the new value relative to the old one, using the middle of each range.
func ratio(old, now measure, k kind) string {
	before := old.least + old.most
	if k == added || k == gone || before == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", float64(now.least+now.most)/float64(before))
}
