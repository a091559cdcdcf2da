package project

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"buddy/config"
	"buddy/texts"
)

// Part is a part of the project, as a file of it defines the part: nothing of it runs
// before the person trusts it. Its Definition is JSON; what runs is read from that, so that it is
// what the person saw.
type Part struct {
	config.Part
	Dir  string // absolute: the folder in which it is trusted
	File string // that defines it, relative to Dir
	Runs string // the whole command, or what it grants
	When string // when that happens

	lines []string // all texts of the definition, which may name files
}

// Problem is a file, or an entry of one, that was left out.
type Problem struct {
	File   string
	Reason string
	Quiet  bool // nobody made a mistake: it is written for another program
	Limits bool // it limits something
}

// Found are the parts that files define, and what was left out.
type Found struct {
	Parts    []Part
	Problems []Problem
}

// partCollectors find the parts of one folder, one function for each kind.
var partCollectors = []func(dir string) Found{serverParts, hookParts, extensionParts}

// Parts finds the parts of the project that dir, which ResolveDir returned, is in: those of
// the nearest folder first, then plugins. c names more files with hooks, and plugins of the person. It
// starts nothing.
func Parts(dir string, c config.Config) Found {
	collectors := slices.Clone(partCollectors)
	for _, file := range alsoHooks(c) {
		collectors = append(collectors, func(dir string) Found { return hooksIn(dir, file) })
	}
	collectors = append(collectors, func(dir string) Found { return languageParts(dir, c) })
	var all Found
	for _, folder := range config.ProjectFolders(dir) {
		for _, collect := range collectors {
			found := collect(folder)
			for i := range found.Parts {
				found.Parts[i].Dir = folder
			}
			all.Parts = append(all.Parts, found.Parts...)
			all.Problems = append(all.Problems, found.Problems...)
		}
	}
	plugins, problems := findPlugins(dir, c)
	for _, f := range plugins {
		all.Parts = append(all.Parts, f.part)
	}
	all.Problems = append(all.Problems, problems...)
	return all
}

// leaveOut adds why a file, or an entry of it, is not used.
func (f *Found) leaveOut(file, format string, args ...any) {
	f.Problems = append(f.Problems, Problem{File: file, Reason: fmt.Sprintf(format, args...)})
}

// read decodes a JSON file of the project and reports whether there is one that can be used.
func (f *Found) read(dir, file string, into any) bool {
	data, err := config.ReadProjectFile(dir, file)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err == nil {
		err = json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), into)
	}
	if err != nil {
		f.leaveOut(file, "%s", jsonReason(err))
	}
	return err == nil
}

// jsonReason says in words what is wrong with JSON.
func jsonReason(err error) string {
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		what := "it"
		if kind.Field != "" {
			what = fmt.Sprintf("%q", kind.Field)
		}
		return fmt.Sprintf("%s can't have type %s", what, kind.Value)
	}
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		return "the file is not valid JSON: " + err.Error()
	}
	return err.Error()
}

// add adds a part whose definition is a value of JSON. Its files are those that any text in runs, a
// part of the definition, names.
func (f *Found) add(dir string, p Part, definition, runs any) {
	p.Definition = canonical(definition)
	p.lines = texts.InJSON(runs)
	p.Files = config.FilesNamed(dir, p.lines...)
	f.Parts = append(f.Parts, p)
}

// canonical returns a value of JSON as people read it, the same for the same value.
func canonical(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil { // never: it was decoded from JSON
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// decoded returns a value of JSON with its numbers as they were written.
func decoded(raw json.RawMessage) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	_ = d.Decode(&v) // it is valid: it was decoded before
	return v
}
