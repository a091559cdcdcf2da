package file

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestWriteFile(t *testing.T) {
	tests := []struct{ name, path, old, content, want string }{
		{"new", "a.txt", "", "x\n", "Wrote 2 bytes to a.txt"},
		{"empty", "a.txt", "", "", "Wrote 0 bytes to a.txt"},
		{"overwrite", "a.txt", "before", "ä\r\n", "Wrote 4 bytes to a.txt"},
		{"parents", "x/y z/ü.txt", "", "x", "Wrote 1 bytes to x/y z/ü.txt"},
		{"over binary", "a.bin", "\x00\xff", "x", "Wrote 1 bytes to a.bin"},
		{"the same", "a.txt", "x", "x", "Wrote 1 bytes to a.txt"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			if tt.old != "" {
				b.put(tt.path, tt.old)
			}
			if tt.old != "" {
				b.Fails("write_file", args{"path": tt.path, "content": tt.content}, "was not read since this session began or was resumed, nothing was written; read it first")
				_, _ = b.Do("read_file", args{"path": tt.path}) // a binary file gives at least its type
			}
			got := b.OK("write_file", args{"path": tt.path, "content": tt.content})
			if got.Text != tt.want || b.content(tt.path) != tt.content {
				t.Errorf("write = %v, the file has %q", got, b.content(tt.path))
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(b.path(tt.path)), ".buddy-*")); left != nil {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestWriteFileKeepsRights(t *testing.T) {
	b := newBench(t)
	b.put("run.sh", "old")
	must(t, os.Chmod(b.path("run.sh"), 0o751))
	uid := os.Getuid()
	if uid == 0 {
		uid = 1234
		must(t, os.Chown(b.path("run.sh"), uid, 2345))
	}
	b.OK("read_file", args{"path": "run.sh"})
	b.OK("write_file", args{"path": "run.sh", "content": "new"})
	var st unix.Stat_t
	must(t, unix.Stat(b.path("run.sh"), &st))
	if st.Mode&0o7777 != 0o751 || int(st.Uid) != uid {
		t.Errorf("mode %o, owner %d; want 751, %d", st.Mode&0o7777, st.Uid, uid)
	}
}

// A link in the arguments is followed at plan time, so the link stays and its target changes.
func TestWriteFileThroughLink(t *testing.T) {
	b := newBench(t)
	b.put("real.txt", "old\n")
	b.link("real.txt", "link.txt")
	b.OK("read_file", args{"path": "link.txt"})
	got := b.OK("write_file", args{"path": "link.txt", "content": "new\n"})
	if got.Text != "Wrote 4 bytes to real.txt" || b.content("real.txt") != "new\n" {
		t.Errorf("write = %v, real.txt has %q", got, b.content("real.txt"))
	}
	if target, err := os.Readlink(b.path("link.txt")); err != nil || target != "real.txt" {
		t.Errorf("the link leads to %q, %v", target, err)
	}
}

func TestWriteFileNotWhatWasShown(t *testing.T) {
	tests := []struct {
		name   string
		change func(b *bench)
		want   string
	}{
		{"changed after the plan", func(b *bench) { b.put("a.txt", "theirs\n") }, "changed since you last read it"},
		{"changed and read again", func(b *bench) {
			b.put("a.txt", "theirs\n")
			b.OK("read_file", args{"path": "a.txt"})
		}, "changed after this call was planned"},
		{"made after the plan", func(b *bench) { b.put("new.txt", "theirs\n") }, "was not read since this session began or was resumed"},
		{"became a FIFO", func(b *bench) {
			must(b.T, os.Remove(b.path("a.txt")))
			must(b.T, unix.Mkfifo(b.path("a.txt"), 0o600))
		}, "is a FIFO"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.put("a.txt", "old\n")
			b.OK("read_file", args{"path": "a.txt"})
			path := "a.txt"
			if strings.HasPrefix(tt.name, "made") {
				path = "new.txt"
			}
			call, err := b.Plan("write_file", args{"path": path, "content": "mine\n"})
			if err != "" {
				t.Fatal(err)
			}
			tt.change(b)
			payload, err := b.Finish(call)
			b.WantError("write_file", payload, err, "execution failed", tt.want)
			if !strings.Contains(tt.want, "FIFO") && b.content(path) != "theirs\n" {
				t.Errorf("the file has %q", b.content(path))
			}
		})
	}
	b := newBench(t)
	b.put("a.txt", "old\n")
	b.OK("read_file", args{"path": "a.txt"})
	b.put("a.txt", "theirs\n")
	b.Fails("write_file", args{"path": "a.txt", "content": "mine\n"}, "changed since you last read it") // refused by the plan
	b.put("empty", "")
	b.OK("write_file", args{"path": "empty", "content": "mine\n"}) // an empty file loses nothing
}

// A failed write leaves the old file and nothing else.
func TestWriteFileFailsWhole(t *testing.T) {
	b := newBench(t)
	var limit unix.Rlimit
	must(t, unix.Getrlimit(unix.RLIMIT_FSIZE, &limit))
	b.put("d/a.txt", "old\n")
	b.OK("read_file", args{"path": "d/a.txt"})
	call, err := b.Plan("write_file", args{"path": "d/a.txt", "content": strings.Repeat("x", 1<<20)})
	if err != "" {
		t.Fatal(err)
	}
	// Like a full disk: the write fails in the middle with EFBIG.
	must(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 1 << 19, Max: limit.Max}))
	payload, err := b.Finish(call)
	must(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &limit))
	b.WantError("write_file", payload, err, "execution failed", "file too large", "d/a.txt")
	entries, readErr := os.ReadDir(b.path("d"))
	if readErr != nil || len(entries) != 1 || b.content("d/a.txt") != "old\n" {
		t.Errorf("%v, %v, a.txt has %q", entries, readErr, b.content("d/a.txt"))
	}
}

func TestPreview(t *testing.T) {
	long := strings.Repeat("line\n", 3000)
	tests := []struct {
		name     string
		old, new string
		want     []string
		lines    int
	}{
		{"many lines", "", long, []string{"new file, +3000 -0 lines, 15000 bytes\n", "+line\n+line\n"}, 3004},
		{"many bytes", "", strings.Repeat("x", 1<<20), []string{"+" + strings.Repeat("x", 1<<20) + "\n"}, 6},
		{"much removed", long + "rest\n", "rest\n", []string{"-line\n… 1000 more lines removed: 5000 bytes\n rest\n"}, 2006},
		{"a long line removed", strings.Repeat("x", 1<<20) + "\na\n", "b\n", []string{"… 1 more line removed: 1048577 bytes\n-a\n+b\n"}, 7},
		{"a long line stays", strings.Repeat("x", 1<<20) + "\na\n", strings.Repeat("x", 1<<20) + "\nb\n", []string{"\n " + strings.Repeat("x", 249) + " … 1048078 unchanged bytes … xxx", "xxx\n-a\n+b\n"}, 7},
		{"binary before", "a\x00b", "text\n", []string{"replaces a file of 3 bytes that is not text or too large to compare, +1 -0 lines, 5 bytes\n", "+text\n"}, 5},
		{"too many lines", "a\n" + strings.Repeat("\n", 60_000), strings.Repeat("b\n", 50_000), []string{"60001 lines from line 1 on become 50000, too many to compare, 60002 → 100000 bytes\n+b\n+b\n", "\n+b\n+b\n"}, 50_001},
		{"large but like before", strings.Repeat("a\n", 2<<20) + "b\n", strings.Repeat("a\n", 2<<20) + "c\n", []string{"+1 -1 lines", "@@ -2097150,4 +2097150,4 @@\n a\n a\n a\n-b\n+c\n"}, 9},
		{"nothing", "a\n", "a\n", []string{"no change: the file has this content already\n"}, 1},
		{"two places", "1\n" + long + "2\n", "3\n" + long + "4\n", []string{"+2 -2 lines, 15004 → 15004 bytes\n", "-1\n+3\n", "-2\n+4\n"}, 15},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			old := snapshot{exists: tt.old != "", size: int64(len(tt.old)), data: []byte(tt.old)}
			got := preview("f", old, []byte(tt.new))
			for _, w := range tt.want {
				if !strings.Contains(got, w) {
					t.Errorf("preview = %.200s…%.200s, want %q in it", got, got[max(0, len(got)-200):], w)
				}
			}
			if n := strings.Count(got, "\n"); n != tt.lines {
				t.Errorf("%d lines, want %d", n, tt.lines)
			}
		})
	}
}

// The preview shows the whole change: applied to the old text it gives the new one.
func FuzzPreview(f *testing.F) {
	f.Add("a\nb\nc\nd\ne\nf\ng\nh\ni\n", "a\nb\nc\nd\ne\nF\ng\nh\ni\n")
	f.Add("a\nb", "a\nb\n")
	f.Add("1\n2\n3\n4\n5\n6", "1\n2\n3\n4\n5\n6\n7")
	f.Add("x\nx\nx\nx\nx\nx\n", "x\nx\nx\nx\nx\n")
	f.Fuzz(func(t *testing.T, before, after string) {
		if !isText(before) || before == "" || before == after || strings.Contains(before+after, "\r") {
			return
		}
		shown := preview("f", snapshot{exists: true, size: int64(len(before)), data: []byte(before)}, []byte(after))
		_, patch, _ := strings.Cut(shown, "\n")
		if strings.Contains(patch, "… ") {
			return
		}
		got, err := strictPatch(before, patch)
		if err != nil || got != after {
			t.Errorf("%q with\n%s = %q, %v, want %q", before, patch, got, err, after)
		}
	})
}

// strictPatch applies a unified diff like patch(1), but strictly.
func strictPatch(text, patch string) (string, error) {
	old := strings.SplitAfter(text, "\n")
	var out strings.Builder
	at := 0
	body := strings.SplitAfter(patch, "\n")
	for i := 2; i < len(body) && body[i] != ""; i++ {
		var from, count int
		if _, err := fmt.Sscanf(body[i], "@@ -%d,%d", &from, &count); err == nil || strings.HasPrefix(body[i], "@@ -") {
			if err != nil {
				_, _ = fmt.Sscanf(body[i], "@@ -%d", &from)
				count = 1
			}
			if count == 0 {
				from++
			}
			for ; at < from-1; at++ {
				out.WriteString(old[at])
			}
			continue
		}
		kind, line := body[i][0], body[i][1:]
		if i+1 < len(body) && strings.HasPrefix(body[i+1], `\ No newline`) {
			line = strings.TrimSuffix(line, "\n")
		}
		switch kind {
		case '+':
			out.WriteString(line)
		case '-', ' ':
			if at >= len(old) || old[at] != line {
				return out.String(), fmt.Errorf("line %d is not %q", at+1, line)
			}
			at++
			if kind == ' ' {
				out.WriteString(line)
			}
		}
	}
	return out.String() + strings.Join(old[at:], ""), nil
}

func BenchmarkPreview(b *testing.B) {
	for _, kb := range []int{10, 750, 10_000} {
		var before, after strings.Builder
		for i := range kb << 10 / 16 {
			fmt.Fprintf(&before, "line number %5d\n", i%997)
			fmt.Fprintf(&after, "line number %5d\n", i%991+1)
		}
		b.Run(fmt.Sprintf("all different %d KB", kb), func(b *testing.B) {
			b.ReportAllocs()
			old := snapshot{exists: true, size: int64(before.Len()), data: []byte(before.String())}
			for b.Loop() {
				preview("f", old, []byte(after.String()))
			}
		})
	}
}
