package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/google/renameio/v2"
)

// SetModel makes a name the model that a start takes, in a file that is made from the
// template where there is none. All else in the file stays as it is, and so does its mode.
// A file in which that cannot be done by changing one line is left alone, with an error
// that says what to write.
func SetModel(path, name string) error {
	if err := checkID(name); err != nil {
		return err
	}
	line := "model = " + strconv.Quote(name)
	return edit(path, "[agent]\n"+line, func(before string) string { return withModel(before, line) },
		func(e []entry) bool { return count(e, "agent.model", name) == 1 })
}

// edit changes a file, unless the result is no TOML or not what was meant; wanted is what
// the person can write instead.
func edit(path, wanted string, change func(before string) string, meant func([]entry) bool) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // the file stays where the person put it
	}
	mode := fs.FileMode(0o600)
	data, info, err := readRegular(path, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		data = []byte(Template())
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("%q: %w", path, cause(err))
		}
	case err != nil:
		return fmt.Errorf("%q: %w", path, err)
	default:
		mode = info.Mode().Perm()
	}
	text := change(string(data))
	entries, _, err := parse([]byte(text))
	if err != nil || !meant(entries) {
		return fmt.Errorf("%q: left as it is, since it can't be changed safely; write into it:\n%s", path, strings.TrimSpace(wanted))
	}
	if err := renameio.WriteFile(path, []byte(text), mode); err != nil {
		return fmt.Errorf("%q: %w", path, cause(err))
	}
	return nil
}

var (
	agentHeader = regexp.MustCompile(`^\s*\[\s*agent\s*\]\s*(#.*)?$`)
	anyHeader   = regexp.MustCompile(`^\s*\[`)
	modelLine   = regexp.MustCompile(`^\s*model\s*=`)
	modelHint   = regexp.MustCompile(`^#\s?model\s*=`)
)

// withModel puts a line into the section [agent]: in place of the one that is there, of the
// template's, or after the head of the section, which is added where there is none.
func withModel(text, line string) string {
	lines := strings.Split(text, "\n")
	head, at := -1, -1
	for i, l := range lines {
		switch {
		case agentHeader.MatchString(l):
			head = i
		case head < 0:
		case anyHeader.MatchString(l):
			return put(lines, head, at, line)
		case modelLine.MatchString(l):
			return put(lines, head, i, line)
		case at < 0 && modelHint.MatchString(l):
			at = i
		}
	}
	if head < 0 {
		return strings.TrimRight(text, "\n") + "\n\n[agent]\n" + line + "\n"
	}
	return put(lines, head, at, line)
}

// put replaces line number at, or adds one after the head when at is negative.
func put(lines []string, head, at int, line string) string {
	if at >= 0 {
		lines[at] = line
		return strings.Join(lines, "\n")
	}
	all := append(append(append([]string{}, lines[:head+1]...), line), lines[head+1:]...)
	return strings.Join(all, "\n")
}

// AddProfile adds a profile to a file that has none of that name, as SetModel does.
func AddProfile(path string, p Profile) error {
	if err := checkID(p.Name); err != nil {
		return fmt.Errorf("the profile's name %w", err)
	}
	url, err := cleanURL(p.BaseURL)
	if err != nil {
		return fmt.Errorf("the address %w", err)
	}
	if p.KeyEnv != "" {
		if _, err := checkEnvName(p.KeyEnv, nil); err != nil {
			return fmt.Errorf("the variable %w", err)
		}
	}
	if err := checkID(p.Model); err != nil {
		return fmt.Errorf("the model %w", err)
	}
	text := fmt.Sprintf("\n[%s]\napi_base_url = %s\nmodel = %s\n", Path("models", p.Name), strconv.Quote(url), strconv.Quote(p.Model))
	if p.KeyEnv != "" {
		text += "api_key_env = " + strconv.Quote(p.KeyEnv) + "\n"
	}
	return edit(path, text, func(before string) string { return strings.TrimRight(before, "\n") + "\n" + text },
		func(e []entry) bool { return count(e, Path("models", p.Name, "model"), p.Model) == 1 })
}

// count returns how often a key has a value, or -1 when it has another one.
func count(entries []entry, key, value string) int {
	n := 0
	for _, e := range entries {
		if Path(e.path...) != key {
			continue
		}
		if e.text != value {
			return -1
		}
		n++
	}
	return n
}
