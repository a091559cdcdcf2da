// Package plan parses the plans that the model writes in plan mode. It reads a plan's steps, formats it for the user,
// and lists the answers that the user can choose.
//
//	steps, err := plan.Steps(text)
package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/texts"
)

// Limits of the list of steps.
const (
	MaxSteps       = 20
	maxDescription = 500 // bytes
	maxArgs        = 8 << 10
)

// step is a step as YAML.
type step struct {
	Description      string         `yaml:"description"`
	Tool             string         `yaml:"tool"`
	Args             map[string]any `yaml:"args"`
	DependsOn        []int          `yaml:"depends_on"`
	Risk             action.Risk    `yaml:"risk"`
	RequiresApproval bool           `yaml:"requires_approval"`
}

// Steps returns the list of steps in the fenced block "steps", or nil if there is no such block. The error text is
// for the model.
func Steps(text string) ([]event.PlanStep, error) {
	block, err := stepsBlock(text)
	if err != nil || block == "" {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(block), &doc); err != nil {
		return nil, fmt.Errorf("steps: the block is not YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if hasAlias(&doc) {
		return nil, errors.New("steps: YAML aliases are not allowed: write each value out")
	}
	var list []step
	if err := doc.Decode(&list); err != nil {
		return nil, fmt.Errorf("steps: expected a list of entries with description, tool, args, depends_on, risk, requires_approval: %s",
			texts.OneLine(strings.TrimPrefix(err.Error(), "yaml: ")))
	}
	if len(list) > MaxSteps {
		return nil, fmt.Errorf("steps: there are %d, at most %d are allowed: combine related steps", len(list), MaxSteps)
	}
	all := make([]event.PlanStep, len(list))
	for i, s := range list {
		if all[i], err = s.checked(i+1, len(list)); err != nil {
			return nil, err
		}
	}
	if circle := circleIn(all); circle != "" {
		return nil, fmt.Errorf("steps: depends_on has a cycle: %s; remove one of them", circle)
	}
	return all, nil
}

// stepsBlock returns the content of the fenced block "steps", or "".
func stepsBlock(text string) (string, error) {
	var block []string
	_, err := eachStepsLine(text, func(line string) { block = append(block, line) })
	return strings.Join(block, "\n"), err
}

// lineRange is a range of lines, from 1.
type lineRange struct{ from, to int }

// stepsLines returns the range of the block "steps" including its fences.
func stepsLines(text string) lineRange {
	at, _ := eachStepsLine(text, func(string) {})
	return at
}

// eachStepsLine passes each line of the fenced block "steps" to yield and returns the range of the block.
func eachStepsLine(text string, yield func(line string)) (at lineRange, err error) {
	fence := ""                 // the opening fence of the current block, "" outside of blocks
	ours, found := false, false // the current block is the steps block; a steps block was seen
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\r\n")
		info := strings.TrimLeft(strings.TrimSpace(line), "`")
		ticks := strings.TrimSuffix(strings.TrimSpace(line), info)
		switch {
		case fence == "" && len(ticks) >= 3:
			fence, ours = ticks, slices.Contains(strings.Fields(info), "steps")
			if ours && found {
				return at, errors.New("steps: there are two blocks: keep one")
			}
			if ours {
				found, at.from = true, n
			}
		case fence != "" && info == "" && len(ticks) >= len(fence):
			if fence = ""; ours {
				at.to = n
			}
		case fence != "" && ours:
			yield(line)
		}
	}
	if fence != "" && ours {
		return at, errors.New("steps: the fenced block is not closed: end it with " + fence)
	}
	return at, nil
}

// hasAlias reports whether a YAML value contains aliases, which can expand a short text to a huge one.
func hasAlias(n *yaml.Node) bool {
	return n.Kind == yaml.AliasNode || slices.ContainsFunc(n.Content, hasAlias)
}

// checked validates step n of a list with the given number of steps, and returns the step.
func (s step) checked(n, of int) (event.PlanStep, error) {
	wrong := func(format string, args ...any) (event.PlanStep, error) {
		return event.PlanStep{}, fmt.Errorf("steps: step %d: %s", n, fmt.Sprintf(format, args...))
	}
	s.Description = texts.OneLine(s.Description)
	switch {
	case s.Description == "":
		return wrong("description: missing, say what the step does")
	case len(s.Description) > maxDescription:
		return wrong("description: longer than %d bytes", maxDescription)
	case !slices.Contains([]action.Risk{"", action.Low, action.Medium, action.High}, s.Risk):
		return wrong("risk: %q is unknown (have: low, medium, high)", s.Risk)
	}
	for _, d := range s.DependsOn {
		if d < 1 || d > of {
			return wrong("depends_on: there is no step %d (have: 1 to %d)", d, of)
		}
	}
	args, err := argsOf(s.Args)
	if err != nil {
		return wrong("args: %v", err)
	}
	return event.PlanStep{
		Description: s.Description, Tool: s.Tool, Args: args, DependsOn: s.DependsOn, Risk: s.Risk, RequiresApproval: s.RequiresApproval,
	}, nil
}

// argsOf returns arguments as JSON, "" for none.
func argsOf(args map[string]any) (string, error) {
	if len(args) == 0 {
		return "", nil
	}
	raw, err := texts.JSON(args)
	if err == nil && len(raw) > maxArgs {
		err = fmt.Errorf("longer than %d bytes", maxArgs)
	}
	return string(raw), err
}

// circleIn returns a cycle of dependent steps, such as "2 → 4 → 2", or "".
func circleIn(all []event.PlanStep) string {
	done := make([]bool, len(all)+1)
	var path []int
	var visit func(n int) string
	visit = func(n int) string {
		if at := slices.Index(path, n); at >= 0 {
			var names []string
			for _, p := range append(path[at:], n) {
				names = append(names, fmt.Sprint(p))
			}
			return strings.Join(names, " → ")
		}
		if done[n] {
			return ""
		}
		path = append(path, n)
		for _, d := range all[n-1].DependsOn {
			if circle := visit(d); circle != "" {
				return circle
			}
		}
		path, done[n] = path[:len(path)-1], true
		return ""
	}
	for n := range all {
		if circle := visit(n + 1); circle != "" {
			return circle
		}
	}
	return ""
}

// Checklist returns steps in the format of the todo tool, one per line and none done.
func Checklist(steps []event.PlanStep) string {
	var b strings.Builder
	for _, s := range steps {
		b.WriteString("[ ] " + s.Description + "\n")
	}
	return b.String()
}
