package compose

import (
	"slices"
	"testing"

	"buddy/agent/reminder"
	"buddy/config"
)

// The kinds in the settings are those that can be switched off, in the same order.
func TestSettingsKnowTheKindsOfReminders(t *testing.T) {
	var want []string
	for _, k := range reminder.Kinds {
		if !k.Fixed {
			want = append(want, k.Name)
		}
	}
	if got := config.ReminderKinds(); !slices.Equal(got, want) {
		t.Errorf("settings know %q, want %q", got, want)
	}
}
