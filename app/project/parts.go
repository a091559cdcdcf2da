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

// Part is a part of the project that needs trust before it runs. What runs is read from its Definition, so that it is
// what the user has seen and trusted.
type Part struct {
	config.Part
	Dir  string // absolute: the folder that the trust applies to
	File string // the defining file, relative to Dir
	Runs string // the full command, or what the part grants
	When string // when it runs

	lines []string // all texts of the definition, which may name files
}

// Problem is a file, or an entry in a file, that was left out.
type Problem struct {
	File   string
	Reason string
	Quiet  bool // not a mistake: it is for another program
	Limits bool // the entry sets a limit
}

// Found holds the parts that files define, and the problems.
type Found struct {
	Parts    []Part
	Problems []Problem
}

// partCollectors find the parts of one folder, one function for each kind.
var partCollectors = []func(dir string) Found{serverParts, hookParts, extensionParts}

// Parts finds the parts of the project that dir belongs to, those of the nearest folder first, and then plugins. dir
// must be a result of ResolveDir. c names additional hooks files, language servers and plugins. Parts starts nothing.
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

// leaveOut adds a problem of a file or an entry.
func (f *Found) leaveOut(file, format string, args ...any) {
	f.Problems = append(f.Problems, Problem{File: file, Reason: fmt.Sprintf(format, args...)})
}

// read decodes a JSON file of the project, and reports whether the file exists and is valid. It adds a problem if the
// file is not valid.
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

// jsonReason describes a JSON error in words.
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

// add adds a part whose definition is a JSON value. runs is the piece of the definition that is run. The part's files
// are the files that the texts in runs name.
func (f *Found) add(dir string, p Part, definition, runs any) {
	p.Definition = canonical(definition)
	p.lines = texts.InJSON(runs)
	p.Files = config.FilesNamed(dir, p.lines...)
	f.Parts = append(f.Parts, p)
}

// canonical formats a JSON value in a readable form that is the same for equal values.
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

// decoded decodes a JSON value and keeps its numbers as they were written.
func decoded(raw json.RawMessage) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	_ = d.Decode(&v) // it was decoded before, so it is valid
	return v
}
