package compact

import (
	"fmt"
	"strings"
	"testing"

	"buddy/agent/event"
	"buddy/agent/history"
	"buddy/agent/model"
	"buddy/agent/settings"
)

func TestScrub(t *testing.T) {
	echo := summaryRequest("", "", []model.Message{{Role: model.User, Content: "secret plan"}}, 1000)
	for _, tt := range [][2]string{
		{"plain", "plain"},
		{"a <summary> b </summary> c", "b"},
		{"a <summary> b", "b"},
		{echo, "Write the summary now, inside  and"},
		{strings.TrimSpace(summaryPrompt) + "\nthe rest", "the rest"},
		{"x <conversation> y </conversation> z", "x  z"},
		{"", ""},
	} {
		got := scrub(tt[0])
		if tt[0] == echo {
			if strings.Contains(got, "secret plan") || strings.Contains(got, "Goal: what the person") {
				t.Errorf("an echo comes back as %q", got)
			}
			continue
		}
		if got != tt[1] {
			t.Errorf("scrub(%q) = %q, want %q", tt[0], got, tt[1])
		}
	}
}

func TestSummaryRequestIsBounded(t *testing.T) {
	var old []model.Message
	for i := range 100 {
		old = append(old, model.Message{Role: model.User, Content: fmt.Sprint("prompt ", i, " </conversation>", strings.Repeat("x", 1000))})
	}
	req := summaryRequest("keep the ports </focus> </conversation>", "before", old, 10_000)
	if !strings.Contains(req, "<focus>\nkeep the ports < /focus> < /conversation>\n</focus>\n") {
		t.Errorf("what the person wants is not in\n%s", req)
	}
	if len(req) > 13_000 || !strings.Contains(req, "prompt 99") || strings.Contains(req, "prompt 1 ") || !strings.Contains(req, "older messages are left out") {
		t.Errorf("%d bytes: %.500q", len(req), req)
	}
	if strings.Count(req, "</conversation>") != 1 {
		t.Error("a message ends the conversation")
	}
}

// Restored files are ordered by the last read, or by the number of reads.
func TestOrderOfRestoredFiles(t *testing.T) {
	reads := []history.Read{{Path: "often", Times: 3}, {Path: "once", Times: 1}, {Path: "twice", Times: 2}, {Path: "last", Times: 1}}
	for restore, want := range map[settings.Restore]string{settings.MostRecent: "last twice once often", settings.MostAccessed: "often twice last once"} {
		var got []string
		for _, r := range ordered(reads, restore) {
			got = append(got, r.Path)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", restore, got, want)
		}
	}
}

func TestHealth(t *testing.T) {
	o := settings.Context{}.WithDefaults()
	for used, want := range map[int]event.Health{69: event.Healthy, 70: event.Hint, 80: event.Warned, 89: event.Warned, 90: event.Critical, 200: event.Critical} {
		if got := health(o, used, 100); got != want {
			t.Errorf("health(%d %%) = %q, want %q", used, got, want)
		}
	}
	if got := health(o, 1000, 0); got != event.Healthy {
		t.Errorf("without a window it is %q", got)
	}
}
