// Package version returns the program's version.
//
//	fmt.Println("buddy", version.Text()) // buddy 0.1.0 (1a2b3c4d, 2026-01-02)
package version

import (
	"fmt"
	"runtime/debug"
	"strings"
)

// Number is the program's version. It is set when a release is built.
var Number = "0.1.0-dev"

// Text returns the version with the commit and the date of the source, as in "0.1.0 (1a2b3c4d, 2026-01-02)". It marks
// builds of changed source.
func Text() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Number
	}
	return of(Number, info.Settings)
}

func of(version string, settings []debug.BuildSetting) string {
	var commit, date, changed string
	for _, s := range settings {
		switch s.Key {
		case "vcs.revision":
			commit = s.Value[:min(len(s.Value), 12)]
		case "vcs.time":
			date, _, _ = strings.Cut(s.Value, "T")
		case "vcs.modified":
			if s.Value == "true" {
				changed = ", changed"
			}
		}
	}
	if commit == "" {
		return version
	}
	return fmt.Sprintf("%s (%s, %s%s)", version, commit, date, changed)
}
