package wire

import (
	"fmt"
	"strings"
	"testing"

	"buddy/agent/model"
)

// TestOrdered checks the order for strict templates. Each letter is a message: s(ystem), p(rompt), r(eminder), i(mage
// that a tool read), a(nswer), c(all), t(ool's result); joined messages have their texts in order, and B is between.
func TestOrdered(t *testing.T) {
	for _, tt := range []struct {
		from      string
		ephemeral int
		want      string
		after     int
	}{
		{"spa", 0, "s p a", 0},
		{"sspp", 0, "ss pp", 0},
		{"spr", 1, "s pr", 1},
		{"sprr", 1, "s prr", 1},
		{"spctr", 1, "s p c tr", 1},
		{"spctra", 0, "s p c tr a", 0},
		{"spcttp", 0, "s p c t t B p", 0},
		{"spctrp", 0, "s p c tr B p", 0},
		{"spcti", 1, "s p c t B i", 1},
		{"spctirr", 1, "s p c t B irr", 1},
		{"spaap", 0, "s p aa p", 0},
		{"spact", 0, "s p ac t", 0},
		{"sp", 0, "s p", 0},
		{"srrp", 0, "s rrp", 0},
		{"srparrp", 2, "s rp a rrp", 1},
	} {
		msgs := lettered(tt.from)
		before := fmt.Sprint(msgs)
		out, after, _ := ordered(msgs, tt.ephemeral)
		if got := letters(out); got != tt.want || after != tt.after || fmt.Sprint(msgs) != before {
			t.Errorf("%s: %q, %d ephemeral, want %q, %d", tt.from, got, after, tt.want, tt.after)
		}
	}
}

// TestReminded checks the messages for servers that accept any order. A result stays unchanged.
func TestReminded(t *testing.T) {
	for _, tt := range []struct {
		from      string
		ephemeral int
		want      string
		after     int
	}{
		{"ssp", 0, "s s p", 0},
		{"srrp", 0, "s rrp", 0},
		{"srp", 2, "s rp", 1},
		{"srparrp", 2, "s rp a rrp", 1},
		{"spp", 0, "s p p", 0},
		{"srpct", 0, "s rp c t", 0},
		{"spctr", 1, "s p c t r", 1},
		{"spctrp", 2, "s p c t rp", 1},
		{"spctrir", 1, "s p c t rir", 1},
	} {
		msgs := lettered(tt.from)
		before := fmt.Sprint(msgs)
		out, after := reminded(msgs, tt.ephemeral)
		if got := letters(out); got != tt.want || after != tt.after || fmt.Sprint(msgs) != before {
			t.Errorf("%s: %q, %d ephemeral, want %q, %d", tt.from, got, after, tt.want, tt.after)
		}
	}
}

func lettered(from string) (msgs []model.Message) {
	for n, k := range from {
		m := model.Message{Role: model.User, Content: fmt.Sprint(string(k), n)}
		switch k {
		case 's':
			m.Role = model.System
		case 'r':
			m.Kind = model.Reminder
		case 'i':
			m.Kind, m.Images = model.Reminder, []model.Image{{Data: []byte("x")}}
		case 'a':
			m.Role = model.Assistant
		case 'c':
			m.Role, m.ToolCalls = model.Assistant, []model.ToolCall{{ID: "1"}}
		case 't':
			m.Role = model.Tool
		}
		msgs = append(msgs, m)
	}
	return msgs
}

func letters(msgs []model.Message) string {
	var all []string
	for _, m := range msgs {
		letters := ""
		for word := range strings.FieldsSeq(strings.ReplaceAll(m.Content, between, "B")) {
			letters += word[:1]
		}
		all = append(all, letters)
	}
	return strings.Join(all, " ")
}
