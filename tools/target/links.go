package target

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxLinks is the largest number of symbolic links in a path, as on Linux.
const maxLinks = 40

// followLinks resolves the symbolic links of an absolute path, part by part as the kernel does: a .. after a link means
// the parent of the folder to which the link leads. Trailing names need not exist.
func followLinks(name string) string {
	at, rest := "/", strings.Split(name, "/")
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			at = path.Dir(at)
			continue
		}
		at = path.Join(at, part)
		to, err := os.Readlink(at)
		if err != nil {
			continue // no link, or missing
		}
		if links++; links > maxLinks {
			return name // too many links: nothing can open this path
		}
		if at = path.Dir(at); filepath.IsAbs(to) {
			at = "/"
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	return at
}

// maxMatched limits the names that are compared with a pattern.
const maxMatched = 20_000

// matched returns the names in dir that a shell's pattern may match, and where the links among them lead. Some of the
// names may not match. ok is false if there are too many names to compare.
func matched(dir, pattern string) (found []string, ok bool) {
	budget := maxMatched
	dirs := []string{dir}
	parts := strings.Split(strings.TrimRight(pattern, "/"), "/")
	if slices.Contains(parts, "**") {
		return nil, false
	}
	for i, part := range parts {
		var next []string
		for _, d := range dirs {
			entries, _ := os.ReadDir(d) // an unreadable folder matches nothing
			if budget -= len(entries) + 1; budget < 0 {
				return nil, false
			}
			for _, e := range entries {
				if !mayMatch(part, e.Name()) {
					continue
				}
				full, link := path.Join(d, e.Name()), e.Type()&os.ModeSymlink != 0
				if link {
					found = append(found, followLinks(full))
				}
				switch {
				case i == len(parts)-1:
					found = append(found, full)
				case e.IsDir() || link:
					next = append(next, full)
				}
			}
		}
		dirs = next
	}
	return found, true
}

// mayMatch reports whether a part of a shell's pattern may match a name. Only a dot matches a leading dot.
func mayMatch(part, name string) bool {
	if strings.HasPrefix(name, ".") && !strings.HasPrefix(part, ".") && !strings.HasPrefix(part, `\.`) {
		return false
	}
	match, err := path.Match(loose(part), name)
	return match || err != nil
}

// loose replaces the character sets in a part of a shell's pattern by ?, because each shell has its own syntax for
// them.
func loose(part string) string {
	var sb strings.Builder
	for i := 0; i < len(part); i++ {
		switch end := strings.IndexByte(part[min(i+2, len(part)):], ']'); {
		case part[i] == '\\' && i+1 < len(part):
			sb.WriteString(part[i : i+2])
			i++
		case part[i] == '[' && strings.Contains(part[i+1:], "[:"):
			return "*"
		case part[i] == '[' && end >= 0:
			sb.WriteByte('?')
			i += 2 + end
		case part[i] == '[':
			sb.WriteString(`\[`)
		default:
			sb.WriteByte(part[i])
		}
	}
	return sb.String()
}

// links caches the destinations of paths of a target for a moment, because a command is judged several times before it
// runs. The zero value is empty. It is safe for concurrent use.
type links struct {
	mu    sync.Mutex
	known map[string]string
	since time.Time // of the oldest entry in known
}

// linksKept limits how long destinations are cached.
const linksKept = 2 * time.Second

// remember returns a function that calls ask, which queries the target, and caches the answers.
func (l *links) remember(ask func(path string) string) func(path string) string {
	return func(path string) string {
		l.mu.Lock()
		if time.Since(l.since) > linksKept {
			l.known, l.since = make(map[string]string), time.Now()
		}
		to, ok := l.known[path]
		l.mu.Unlock()
		if ok {
			return to
		}
		to = ask(path)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.known[path] = to
		return to
	}
}
