package target

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// maxLinks is how many symbolic links a path may lead through, as on Linux.
const maxLinks = 40

// followLinks resolves the symbolic links of an absolute path, part by part as the kernel does: ..
// is the folder above the one that the link before it leads to. The end need not exist.
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
			continue // no link, or nothing
		}
		if links++; links > maxLinks {
			return name // which nothing can open
		}
		if at = path.Dir(at); filepath.IsAbs(to) {
			at = "/"
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	return at
}

// maxMatched is how many names of folders are looked at for a pattern.
const maxMatched = 20_000

// oddMatches returns the symbolic links that a pattern matches in dir, as a shell would, and the
// names that begin with a dash there, perhaps a few more; false if it would have to look at too
// much.
func oddMatches(dir, pattern string) (odd []string, ok bool) {
	budget := maxMatched
	dirs := []string{dir}
	parts := strings.Split(strings.TrimRight(pattern, "/"), "/")
	for i, part := range parts {
		var next []string
		for _, d := range dirs {
			entries, _ := os.ReadDir(d) // what cannot be read matches nothing
			if budget -= len(entries) + 1; budget < 0 {
				return nil, false
			}
			for _, e := range entries {
				if !mayMatch(part, e.Name()) {
					continue
				}
				full := path.Join(d, e.Name())
				link := e.Type()&os.ModeSymlink != 0
				if link || i == 0 && strings.HasPrefix(e.Name(), "-") {
					odd = append(odd, full)
				}
				if (link || e.IsDir()) && i < len(parts)-1 {
					next = append(next, full)
				}
			}
		}
		dirs = next
	}
	return odd, true
}

// mayMatch reports whether a shell may take a name for one that a part of a pattern matches. A
// dot at the beginning is matched by a dot only.
func mayMatch(part, name string) bool {
	if strings.HasPrefix(name, ".") && !strings.HasPrefix(part, ".") && !strings.HasPrefix(part, `\.`) {
		return false
	}
	match, err := path.Match(loose(part), name)
	return match || err != nil
}

// loose is a part of a pattern with ? in place of sets, which shells write in more ways.
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

// links remembers for a moment where paths of a target lead: a command is judged several times
// before it runs. The zero value remembers nothing. Safe for concurrent use.
type links struct {
	mu    sync.Mutex
	known map[string]string
	since time.Time // of the oldest in known
}

// linksKept is how long links are remembered.
const linksKept = 2 * time.Second

// remember returns ask, which asks the target, with a memory.
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
