package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode"

	"buddy/app/compose"
	"buddy/app/fullscreen"
	"buddy/config"
)

const badFolder = "testdata/bad"

// TestBadConfigs: testdata/bad has invalid settings with the expected output of `buddy config check`. A start refuses
// the same files, with one of these lines.
func TestBadConfigs(t *testing.T) {
	home := t.TempDir()
	for name, value := range map[string]string{"HOME": home, "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": home, "BUDDY_MODEL": "", "BUDDY_BASE_URL": "", "BUDDY_API_KEY": ""} {
		t.Setenv(name, value)
	}
	t.Chdir(badFolder)
	files, err := filepath.Glob("*.toml")
	if err != nil || len(files) < 60 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(file, ".toml"), func(t *testing.T) {
			got := badLines(t, file)
			golden := strings.TrimSuffix(file, ".toml") + ".want"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil || got != string(want) {
				t.Errorf("%s differs; if you meant to change it: make golden\ngot:\n%s\nwant:\n%s", golden, got, want)
			}
		})
	}
}

// badLines returns the errors of a file, and checks what must always hold.
func badLines(t *testing.T, file string) string {
	t.Helper()
	r := config.Check(file)
	compose.CheckSettings(r, false)
	var b strings.Builder
	var short []string // as a start reports it: without the column
	for _, e := range r.Mistakes() {
		line := e.Error()
		b.WriteString(line + "\n")
		short = append(short, withoutColumn(line))
		if strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) || strings.Contains(line, "SECRET") || len(line) > 1500 {
			t.Errorf("not a line to print: %q", line)
		}
	}
	if len(short) == 0 {
		t.Error("no mistake was found")
	}
	// For a number that fits no integer the two report different errors on the same line.
	start := startError(file)
	same := strings.Contains(strings.Join(short, "\n"), start) || strings.Contains(start, "too large to fit")
	if start == "" || !same {
		t.Errorf("a start says %q, check:\n%s", start, b.String())
	}
	return b.String()
}

func withoutColumn(line string) string {
	parts := strings.SplitN(line, ":", 4)
	if len(parts) < 4 || strings.Trim(parts[2], "0123456789") != "" || parts[2] == "" {
		return line
	}
	return parts[0] + ":" + parts[1] + ":" + parts[3]
}

// startError returns the full screen's error for a file before it opens.
func startError(file string) string {
	f := &compose.Options{Config: file}
	r := compose.ReadSettings(f)
	err := r.Err
	if err == nil {
		_, err = fullscreen.LooksOf(f, r.Config, r.Index)
	}
	if err == nil {
		return ""
	}
	return strings.TrimPrefix(err.Error(), "--config: ")
}

// TestBadFiles: something other than a file is named, and nothing hangs.
func TestBadFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("HOME", t.TempDir())
	for _, tt := range []struct {
		name, want string
		make       func() error
	}{
		{"directory", "c.toml: is a directory, not a file\n", func() error { return os.Mkdir("c.toml", 0o700) }},
		{"FIFO", "c.toml: is not a regular file\n", func() error { return syscall.Mkfifo("c.toml", 0o600) }},
		{"10 MB", "c.toml: is over 1024 KiB\n", func() error { return os.WriteFile("c.toml", make([]byte, 10<<20), 0o600) }},
		{"missing", "c.toml: no such file or directory\n", func() error { return nil }},
		{"dangling link", "c.toml: is a symbolic link to a file that does not exist\n", func() error { return os.Symlink("nowhere", "c.toml") }},
		{"link to itself", "c.toml: too many levels of symbolic links\n", func() error { return os.Symlink("c.toml", "c.toml") }},
		{"unreadable", "c.toml: permission denied\n", func() error { return os.WriteFile("c.toml", nil, 0) }},
		{"device", "c.toml: is not a regular file\n", func() error { return os.Symlink("/dev/zero", "c.toml") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name == "unreadable" && os.Getuid() == 0 {
				t.Skip("root reads everything")
			}
			if err := tt.make(); err != nil {
				t.Fatal(err)
			}
			defer os.Remove("c.toml") //nolint:errcheck // "missing" has none
			var b strings.Builder
			for _, e := range config.Check("c.toml").Mistakes() {
				b.WriteString(e.Error() + "\n")
			}
			if b.String() != tt.want {
				t.Errorf("%s, want %s", b.String(), tt.want)
			}
			if startError("c.toml") == "" {
				t.Error("a start takes it")
			}
		})
	}
}
