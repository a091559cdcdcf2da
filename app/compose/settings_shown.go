package compose

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"buddy/config"
	"buddy/texts"
)

// settingsText lists the files that settings come from, the strongest first, and the settings that are not
// the built-in ones. They are read anew: a file may have changed since the session began.
func settingsText(s *Setup) (string, error) {
	c, index, notices, err := LoadConfig(s.options)
	if err != nil {
		return "", fmt.Errorf("%w; buddy config check finds all mistakes", err)
	}
	var b strings.Builder
	b.WriteString("Settings files, highest priority first:\n")
	home, _ := os.UserHomeDir() // without one, paths are shown whole
	listed := make(map[string]bool)
	for _, f := range config.Sources(s.options.Config, TrustStore()) {
		if !f.Exists && listed[f.Kind] {
			continue // an old name, which nobody should take now
		}
		listed[f.Kind] = true
		state := "not there"
		if f.Exists {
			state = "used"
		}
		if f.Note != "" {
			state = f.Note
		}
		fmt.Fprintf(&b, "  %-8s  %s  (%s)\n", f.Kind, texts.WithTilde(f.Path, home), state)
	}
	b.WriteByte('\n')
	if set := config.NotBuiltIn(c.Settings(index)); len(set) > 0 {
		b.WriteString(config.Format(set, func(v config.Setting) string { return texts.WithTilde(v.Source, home) }))
	} else {
		b.WriteString("Nothing is set: everything is as built in.\n")
	}
	for _, n := range append(notices, c.Problem) {
		if n != "" {
			b.WriteString("\n" + n)
		}
	}
	b.WriteString("\n/config edit opens your file. buddy config show lists every setting\nwith its default, buddy config set changes one.\n")
	return b.String(), nil
}

// settingsFile returns the person's file, which it begins with the commented template where there is none.
func settingsFile(s *Setup) (string, error) {
	path := config.UserFile(s.options.Config)
	if path == "" {
		return "", errors.New("no home is known: name a file with --config")
	}
	path, err := filepath.Abs(path)
	if err == nil {
		_, err = config.WriteTemplate(path)
	}
	return path, err
}
