package slash

import (
	"fmt"
	"slices"
	"strings"

	"buddy/sessions"
)

// DefaultExport is the format of an export for which nobody names one.
const DefaultExport = sessions.Markdown

// exportFormats maps the names that people use to formats.
var exportFormats = map[string]sessions.ExportFormat{
	"md": sessions.Markdown, "markdown": sessions.Markdown, "html": sessions.HTML, "json": sessions.JSON,
}

// exportWish takes a format, a file, or both, and whether the file may exist.
func exportWish(args string) (as sessions.ExportFormat, file string, force bool, err error) {
	words := strings.Split(args, " ") // a file's name may have several blanks
	if i := slices.Index(words, "--force"); i >= 0 {
		args, force = strings.TrimSpace(strings.Join(slices.Delete(words, i, i+1), " ")), true
	}
	as, file = DefaultExport, args
	first, rest, _ := strings.Cut(args, " ")
	if f, ok := exportFormats[strings.ToLower(first)]; ok {
		as, file = f, strings.TrimSpace(rest)
	} else if i := strings.LastIndexByte(args, '.'); i >= 0 {
		if f := sessions.ExportFormat(args[i+1:]); slices.Contains(sessions.ExportFormats, f) {
			as = f
		}
	} else if args != "" {
		return "", "", false, fmt.Errorf("%q is not known (have: md, html, json, or a file such as session.md)", first)
	}
	return as, file, force, nil
}

// ExportThis writes this session into a file.
func (c Catalog) ExportThis(s Frontend, args string) error {
	as, file, force, err := exportWish(args)
	if err != nil {
		return err
	}
	id := c.Current()
	Inform(s, "/export", func() (string, error) { return c.Export(id, as, file, force) }, func(path string) {
		s.Say("written: " + path + " (keys and what looks like one are taken out; read it before you share it)")
	})
	return nil
}
