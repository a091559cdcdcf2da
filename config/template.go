package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"
)

// Template returns the settings file of a first start: every key with its meaning, all commented out, so that it equals
// the defaults. Lines that begin with "# " are text, lines that begin with "#" and no space are settings, except the
// first line, which points editors to the schema.
func Template() string {
	var b strings.Builder
	b.WriteString(schemaLine + "\n\n")
	b.WriteString("# Settings of buddy. Remove the # in front of a line to change its value.\n")
	c := defaults()
	for _, s := range sections {
		b.WriteByte('\n')
		comment(&b, s.doc)
		if s.named {
			writeExamples(&b, s)
			continue
		}
		if s.rules {
			writeRule(&b, s)
			continue
		}
		fmt.Fprintf(&b, "[%s]\n", s.name)
		for _, f := range s.fields {
			if f.old {
				continue
			}
			comment(&b, f.doc)
			fmt.Fprintf(&b, "#%s = %s\n", f.name, literal(f.pointer(&c, nil)))
		}
		if s.free != nil {
			comment(&b, s.free.doc)
			fmt.Fprintf(&b, "#%s\n", s.example)
		}
	}
	return b.String()
}

// writeRule writes an example of a rule.
func writeRule(b *strings.Builder, s section) {
	example := map[string]string{"allow": `prefix = ["go", "test"]`, "ask": `path = "migrations/**"`, "deny": `prefix = ["git", "push"]`}
	fmt.Fprintf(b, "#[[%s]]\n#%s\n", s.name, example[s.name])
}

// writeExamples documents the keys of a profile and writes some examples.
func writeExamples(b *strings.Builder, s section) {
	for _, f := range s.fields {
		comment(b, f.name+": "+f.doc)
	}
	if s.name == targetsSection.name {
		b.WriteByte('\n')
		writeExample(b, s, exampleTarget.Name, &Config{Targets: []Target{exampleTarget}}, nil)
		return
	}
	if s.name == mcpSection.name {
		b.WriteByte('\n')
		writeExample(b, s, exampleMCP.Name, &Config{MCP: []MCPServer{exampleMCP}}, nil)
		return
	}
	if s.name == lspSection.name {
		b.WriteByte('\n')
		writeExample(b, s, exampleLSP.Name, &Config{LSP: []LanguageServer{exampleLSP}}, nil)
		return
	}
	for _, e := range examples {
		b.WriteString("\n# " + e.doc + "\n")
		writeExample(b, s, e.profile.Name, nil, &e.profile)
	}
}

// writeExample writes a table with its values.
func writeExample(b *strings.Builder, s section, name string, c *Config, p *Profile) {
	fmt.Fprintf(b, "#[%s.%s]\n", s.name, name)
	for _, f := range s.fields {
		if v := literal(f.pointer(c, p)); v != `""` && v != "0" && v != "false" && v != "[]" {
			fmt.Fprintf(b, "#%s = %s\n", f.name, v)
		}
	}
}

// comment writes text as comment lines of at most 100 bytes.
func comment(b *strings.Builder, text string) {
	width := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case width == 0:
			b.WriteByte('#')
			width = 1
		case width+1+len(word) > 100:
			b.WriteString("\n#")
			width = 1
		}
		b.WriteByte(' ')
		b.WriteString(word)
		width += 1 + len(word)
	}
	b.WriteByte('\n')
}

// WriteTemplate writes [Template] to a new file of mode 0600 and creates its folder with mode 0700. It leaves an
// existing file of any kind unchanged. At a first start an error, such as a read-only home, deserves only a notice.
func WriteTemplate(path string) (created bool, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return false, fmt.Errorf("config template %q: %w", path, cause(err))
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("config template %q: %w", path, cause(err))
	}
	_, err = f.WriteString(Template())
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(path) //nolint:errcheck // a partial template would be an error at the next start
		return false, fmt.Errorf("config template %q: %w", path, cause(err))
	}
	writeSchema(path)
	return true, nil
}

// RefreshSchema updates the schema next to a file that refers to it.
func RefreshSchema(path string) {
	data, _, err := readRegular(path, maxFile)
	if err == nil && strings.HasPrefix(string(data), schemaLine) {
		writeSchema(path)
	}
}

// writeSchema writes the schema next to a file. It ignores errors, because the schema only helps editors.
func writeSchema(path string) {
	path = filepath.Join(filepath.Dir(path), SchemaFile)
	old, _, err := readRegular(path, maxFile)
	switch want := Schema(); {
	case errors.Is(err, fs.ErrNotExist):
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			_, _ = f.Write(want)
			_ = f.Close()
		}
	case err == nil && string(old) != string(want):
		_ = renameio.WriteFile(path, want, 0o600)
	}
}
