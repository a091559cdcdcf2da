package host

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"buddy/texts/searchpath"
)

const (
	maxConfig   = 1 << 20 // bytes read of an ssh configuration
	maxIncludes = 50      // included files in total
)

// Containers returns the names of the running containers of docker and podman, for completion.
// An engine that does not answer before ctx ends contributes none.
func Containers(ctx context.Context) []string {
	var all []string
	for _, engine := range []string{"docker", "podman"} {
		if _, err := searchpath.Look(engine); err != nil {
			continue
		}
		out, _, err := output(ctx, inspectLimit, engine, "ps", "--format", "{{.Names}}")
		if err != nil {
			continue
		}
		for _, name := range strings.Fields(out) {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// SSHNames returns the host names in an ssh configuration, for completion: the words after Host that are not patterns,
// also in included files. If file is "", it reads the user's own configuration. It parses the files itself:
// kevinburke/ssh_config (1.6.0) takes 0.7 s for 1 MB and rejects a whole file if one includes itself.
func SSHNames(file string) []string {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	dir := filepath.Join(home, ".ssh")
	if file == "" {
		file = filepath.Join(dir, "config")
	}
	r := sshReader{dir: dir, remaining: maxIncludes}
	r.read(file)
	return r.names
}

// badDest reports whether dest cannot be an ssh destination, or ssh would take it for an option.
func badDest(dest string) bool {
	return dest == "" || strings.HasPrefix(dest, "-") || strings.ContainsAny(dest, " \t\n'\"\\$`;&|<>()")
}

// sshReader collects host names.
type sshReader struct {
	dir       string // base of included relative paths
	remaining int    // files that may still be read
	names     []string
}

func (r *sshReader) read(file string) {
	f, err := os.Open(file)
	if err != nil {
		return
	}
	defer f.Close() //nolint:errcheck // only read
	lines := bufio.NewScanner(io.LimitReader(f, maxConfig))
	for lines.Scan() {
		words := strings.Fields(strings.Replace(lines.Text(), "=", " ", 1))
		if len(words) < 2 {
			continue
		}
		for _, word := range words[1:] {
			word = strings.Trim(word, `"`)
			switch strings.ToLower(words[0]) {
			case "host":
				if !strings.ContainsAny(word, "*?!") && !badDest(word) && !slices.Contains(r.names, word) {
					r.names = append(r.names, word)
				}
			case "include":
				r.include(word)
			}
		}
	}
}

// include reads the files that match a pattern.
func (r *sshReader) include(pattern string) {
	if rest, ok := strings.CutPrefix(pattern, "~/"); ok {
		pattern = filepath.Join(filepath.Dir(r.dir), rest)
	} else if !filepath.IsAbs(pattern) {
		pattern = filepath.Join(r.dir, pattern)
	}
	paths, _ := filepath.Glob(pattern) // a bad pattern matches none
	for _, path := range paths {
		if r.remaining--; r.remaining >= 0 {
			r.read(path)
		}
	}
}
