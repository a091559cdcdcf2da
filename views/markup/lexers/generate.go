//go:build ignore

// Command lexers generates the definitions with which package markup highlights code, from the version of chroma in
// go.mod. Each definition is an XML file. Run it with go generate.
package main

import (
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// names lists the wanted lexers and the lexers that they use.
var names = []string{
	"Awk", "Bash", "Bash Session", "C", "C#", "C++", "CMake", "CSS", "Dart", "Docker",
	"Elixir", "Erlang", "fish", "Go", "GraphQL", "Groovy", "Haskell", "HCL", "HTML", "INI",
	"Java", "JavaScript", "JSON", "Kotlin", "Lua", "Makefile", "markdown", "Nginx configuration file",
	"Nix", "Objective-C", "OCaml", "Perl", "PHP", "PowerShell", "Protocol Buffer", "Python", "R",
	"react", "Ruby", "Rust", "Scala", "SCSS", "Sed", "SQL", "Swift", "SYSTEMD", "Terraform",
	"TOML", "TypeScript", "XML", "YAML", "Zig",
}

func main() {
	log.SetFlags(0)
	for _, name := range names {
		if err := write(name); err != nil {
			log.Fatalf("%s: %v", name, err)
		}
	}
	if err := writeLicense(); err != nil {
		log.Fatalf("license: %v", err)
	}
}

func write(name string) error {
	lexer, err := find(name)
	if err != nil {
		return err
	}
	rules, err := lexer.Rules()
	if err != nil {
		return err
	}
	config := *lexer.Config()
	config.Analyse = nil // language detection is not needed
	data, err := chroma.Marshal(chroma.MustNewLexer(&config, func() chroma.Rules { return serialisable(rules) }))
	if err != nil {
		return err
	}
	file := strings.ReplaceAll(strings.ToLower(name), " ", "_") + ".xml"
	return os.WriteFile(filepath.Join("lexers", file), []byte(sorted(string(data))+"\n"), 0o644)
}

// sorted sorts the states, whose order is random because they come from a map.
func sorted(xml string) string {
	const start, end = "    <state ", "  </rules>"
	states := strings.Split(xml, start)
	last := len(states) - 1
	body, tail, _ := strings.Cut(states[last], end)
	states[last] = body
	slices.Sort(states[1:])
	return strings.Join(states, start) + end + tail
}

// find returns a lexer by name, without the library's wrapper.
func find(name string) (*chroma.RegexLexer, error) {
	lexer := lexers.Get(name)
	if lexer == nil {
		return nil, fmt.Errorf("chroma has no such lexer")
	}
	if r, ok := lexer.(*chroma.RegexLexer); ok {
		return r, nil
	}
	r, ok := reflect.ValueOf(lexer).Elem().FieldByName("Lexer").Interface().(*chroma.RegexLexer)
	if !ok {
		return nil, fmt.Errorf("%T is not described by rules", lexer)
	}
	return r, nil
}

// serialisable replaces the only rule that is a function: the rule for Go's raw strings, in which the library detects
// templates.
func serialisable(rules chroma.Rules) chroma.Rules {
	rules = rules.Clone()
	for state := range rules {
		for i := range rules[state] {
			if rules[state][i].Pattern == "(`)([^`]*)(`)" {
				rules[state][i].Type = chroma.LiteralString
			}
		}
	}
	return rules
}

// writeLicense writes the license of the definitions.
func writeLicense() error {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/alecthomas/chroma/v2").Output()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "COPYING"))
	if err != nil {
		return err
	}
	head := "The XML files in this directory are generated from the lexer definitions of\ngithub.com/alecthomas/chroma/v2, whose licence follows.\n\n"
	return os.WriteFile(filepath.Join("lexers", "LICENSE"), append([]byte(head), text...), 0o644)
}
