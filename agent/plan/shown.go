package plan

import (
	"fmt"
	"strings"

	"buddy/agent/event"
	"buddy/texts"
)

// Shown returns a plan for the screen: its YAML steps become a numbered list. Invalid steps stay as they are.
func Shown(text string) string {
	steps, err := Steps(text)
	if err != nil || len(steps) == 0 {
		return text
	}
	var b strings.Builder
	block := stepsLines(text)
	n := 0
	for line := range strings.Lines(text) {
		switch n++; {
		case n == block.from:
			b.WriteString("Steps:\n\n" + list(steps))
		case n > block.from && n <= block.to:
		default:
			b.WriteString(line)
		}
	}
	return b.String()
}

// list formats steps as a numbered list.
func list(steps []event.PlanStep) string {
	var b strings.Builder
	for i, s := range steps {
		var facts []string
		if len(s.DependsOn) > 0 {
			facts = append(facts, "after "+texts.Join(s.DependsOn, ", ", func(n int) string { return fmt.Sprint(n) }))
		}
		if s.Tool != "" {
			facts = append(facts, "with "+texts.OneLine(s.Tool))
		}
		if s.Risk != "" {
			facts = append(facts, "risk "+string(s.Risk))
		}
		if s.RequiresApproval {
			facts = append(facts, "needs approval")
		}
		number := fmt.Sprintf("%d. ", i+1)
		b.WriteString(number + s.Description)
		if len(facts) > 0 {
			b.WriteString(" (" + strings.Join(facts, " · ") + ")")
		}
		b.WriteByte('\n')
		args, _ := texts.Listed(s.Args)
		for line := range strings.Lines(args) {
			b.WriteString(strings.Repeat(" ", len(number)) + "- " + strings.TrimRight(line, "\n") + "\n")
		}
	}
	return b.String()
}
