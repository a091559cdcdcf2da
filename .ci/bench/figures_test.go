package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
)

// once is the figure of a benchmark with a single run.
func once(bytes, allocs int64) figure { return figure{measure{bytes, bytes}, measure{allocs, allocs}} }

// Output of go test: names with words, a benchmark's own figures between the others, other lines.
func TestReadBenchmarks(t *testing.T) {
	const printed = `goos: linux
pkg: buddy/agent/redact
BenchmarkText/short-2         	  100000	      1234 ns/op	 512.50 MB/s	      96 B/op	       3 allocs/op
BenchmarkAgents-2             	       1	1234567890 ns/op	         7.500 KB/agent	 5000000 B/op	   40000 allocs/op
--- BENCH: BenchmarkAgents-2
    x_test.go:1: Benchmark says hello to 7 B/op
BenchmarkNoisy-2              	noise
BenchmarkFree/n-2-2           	1000000000	         0.25 ns/op	       0 B/op	       0 allocs/op
PASS
ok  	buddy/agent/redact	2.0s
?   	buddy/app	[no test files]
pkg: buddy
BenchmarkAttach-2             	       3	  40000000 ns/op	     100 B/op	       2 allocs/op
ok  	buddy	2.0s
`
	got, err := readBenchmarks(strings.NewReader(printed))
	want := figures{"agent/redact Text/short": once(96, 3), "agent/redact Agents": once(5000000, 40000), "agent/redact Free/n-2": {}, "Attach": once(100, 2)}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v\nwant %v", got, err, want)
	}
}

func TestCompare(t *testing.T) {
	for _, tt := range []struct {
		name     string
		old, now figures
		want     string // "worse NAME" and so on, in order
	}{
		{"as before", figures{"a A": once(5000, 50)}, figures{"a A": once(5000, 50)}, ""},
		{"within the noise", figures{"a A": once(5000, 50)}, figures{"a A": once(5490, 54)}, ""},
		{"more bytes", figures{"a A": once(5000, 50)}, figures{"a A": once(5600, 50)}, "worse a A"},
		{"more allocations", figures{"a A": once(5000, 50)}, figures{"a A": once(5000, 56)}, "worse a A"},
		{"fewer of both", figures{"a A": once(5600, 56)}, figures{"a A": once(5000, 50)}, "better a A"},
		{"fewer bytes in more allocations", figures{"a A": once(5600, 50)}, figures{"a A": once(5000, 60)}, "worse a A"},
		{"small ones that double", figures{"a A": once(100, 2)}, figures{"a A": once(200, 4)}, ""},
		{"within the range and its noise", figures{"a A": {measure{4000, 5000}, measure{40, 50}}}, figures{"a A": once(6400, 64)}, ""},
		{"above the range and its noise", figures{"a A": {measure{4000, 5000}, measure{40, 50}}}, figures{"a A": once(6600, 64)}, "worse a A"},
		{"below the range and its noise", figures{"a A": {measure{4000, 5000}, measure{40, 50}}}, figures{"a A": once(2600, 26)}, "better a A"},
		{"something instead of nothing", figures{"a A": {}}, figures{"a A": once(300, 1)}, "worse a A"},
		{"a new one and one that is gone", figures{"a A": once(1, 1), "a C": once(2, 2)}, figures{"a B": once(9, 9), "a C": once(2, 2)}, "new a B, gone a A"},
		{"the worst first", figures{"a A": once(9000, 1), "b B": once(1000, 1), "c C": once(1, 1)}, figures{"a A": once(1000, 1), "b B": once(9000, 1)}, "worse b B, better a A, gone c C"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			changes := compare(tt.old, tt.now)
			var got []string
			for _, c := range changes {
				got = append(got, fmt.Sprintf("%s %s", c.kind, c.name))
			}
			if strings.Join(got, ", ") != tt.want {
				t.Errorf("%v, want %q", got, tt.want)
			}
			var table bytes.Buffer
			err := report(&table, changes, len(tt.now))
			if (err != nil) != strings.Contains(tt.want, "worse") {
				t.Errorf("%v for %q", err, tt.want)
			}
			for _, line := range got {
				kind, name, _ := strings.Cut(line, " ")
				if !strings.Contains(table.String(), kind) || !strings.Contains(table.String(), "  "+name+"\n") {
					t.Errorf("no %q in\n%s", line, table.String())
				}
			}
		})
	}
}

// The table as displayed.
func TestReport(t *testing.T) {
	var table bytes.Buffer
	_ = report(&table, compare(figures{"a A": {measure{4000, 6000}, measure{50, 50}}, "b B": once(8, 1)}, figures{"a A": once(10000, 50), "c C": {}}), 2)
	const want = `          B/op     before  ratio  allocs/op  before  ratio  benchmark
  worse  10000  4000-6000   2.00         50      50   1.00  a A
    new      0          -      -          0       -      -  c C
   gone      -          8      -          -       1      -  b B
2 benchmarks: 1 worse, 0 better, 1 new, 1 gone since the figures of .ci/bench/figures
`
	if table.String() != want {
		t.Errorf("%s\nwant\n%s", table.String(), want)
	}
}

// Written figures can be read again, with any names, and a damaged file is refused.
func TestFiguresAreKept(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(".ci/bench", 0o700); err != nil {
		t.Fatal(err)
	}
	all := figures{"agent/redact Text/short": once(96, 3), "Attach": {measure{90, 100}, measure{0, 2}}, "a B/n-1#01": {}}
	if err := write(all); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(kept)
	if err != nil || strings.Count(string(text), "\n") != 4 {
		t.Errorf("%v\n%s", err, text)
	}
	got, err := readFigures(bytes.NewReader(text))
	if err != nil || !maps.Equal(got, all) {
		t.Errorf("%v, %v", got, err)
	}
	for _, broken := range []string{"a A\n", "a A x 1\n", "# fine\n\na A 1 x\n", "a A 1.5 2\n", "a A 1-x 2\n"} {
		if got, err := readFigures(strings.NewReader(broken)); err == nil || !strings.HasPrefix(err.Error(), "line ") {
			t.Errorf("%q: %v, %v", broken, got, err)
		}
	}
}

// Two runs give the combined range, and benchmarks that only one of them has are kept.
func TestFiguresOfTwoRuns(t *testing.T) {
	got := figures{"a A": once(100, 9), "a B": once(1, 1)}.with(figures{"a A": once(90, 12), "a C": once(2, 2)})
	want := figures{"a A": {measure{90, 100}, measure{9, 12}}, "a B": once(1, 1), "a C": once(2, 2)}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
