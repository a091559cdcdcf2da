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

// exportWish takes a format, a file, or both.
func exportWish(args string) (as sessions.ExportFormat, file string, err error) {
	as, file = DefaultExport, args
	first, rest, _ := strings.Cut(args, " ")
	if f, ok := exportFormats[strings.ToLower(first)]; ok {
		as, file = f, strings.TrimSpace(rest)
	} else if i := strings.LastIndexByte(args, '.'); i >= 0 {
		if f := sessions.ExportFormat(args[i+1:]); slices.Contains(sessions.ExportFormats, f) {
			as = f
		}
	} else if args != "" {
		return "", "", fmt.Errorf("%q is not known (have: md, html, json, or a file such as session.md)", first)
	}
	return as, file, nil
}

// ExportThis writes this session into a file.
func (c Catalog) ExportThis(s Frontend, args string) error {
	as, file, err := exportWish(args)
	if err != nil {
		return err
	}
	id := c.Current()
	Inform(s, "/export", func() (string, error) { return c.Export(id, as, file) }, func(path string) {
		s.Say("written: " + path + " (keys and what looks like one are taken out; read it before you share it)")
	})
	return nil
}
