package version

import (
	"runtime/debug"
	"testing"
)

func TestVersionOf(t *testing.T) {
	setting := func(key, value string) debug.BuildSetting { return debug.BuildSetting{Key: key, Value: value} }
	for _, tt := range []struct {
		settings []debug.BuildSetting
		want     string
	}{
		{nil, "1.2.0"},
		{[]debug.BuildSetting{setting("vcs.modified", "true")}, "1.2.0"},
		{[]debug.BuildSetting{setting("vcs.revision", "1a2b3c4d5e6f7890"), setting("vcs.time", "2026-01-02T03:04:05Z"), setting("vcs.modified", "false")}, "1.2.0 (1a2b3c4d5e6f, 2026-01-02)"},
		{[]debug.BuildSetting{setting("vcs.revision", "1a2b"), setting("vcs.time", "2026-01-02T03:04:05Z"), setting("vcs.modified", "true")}, "1.2.0 (1a2b, 2026-01-02, changed)"},
	} {
		if got := of("1.2.0", tt.settings); got != tt.want {
			t.Errorf("versionOf(%v) = %q, want %q", tt.settings, got, tt.want)
		}
	}
}
