package reminder

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"buddy/agent/action"
	"buddy/agent/model"
	"buddy/texts"
)

// Snapshot holds the state of a conversation just before a request. "" and 0 mean unknown.
type Snapshot struct {
	Subagent bool
	Blocks   bool // the model calls tools in text blocks
	Task     int  // number of the exchange
	Turn     int  // number of the turn in the session
	Mode     action.Mode
	Model    string // name of the model, as the model sees it
	Date     string // today, as in prompts
	Dated    string // the date that the model got last
	Fill     Level  // use of the context window, in tokens
	Cost     Level  // cost of the exchange
	Steps    Steps
	Work     Work
	Told     map[string]string // [Said.State] of each kind after the last request
}

// Level holds the used amount and its limit; a limit of 0 means no limit.
type Level struct{ Used, Limit int64 }

// crossed returns the highest of 25, 50, 75 and 90 percent that was reached, or 0.
func (l Level) crossed() int {
	if l.Limit <= 0 {
		return 0
	}
	for _, percent := range []int64{90, 75, 50, 25} {
		if l.Used >= l.Limit/100*percent+l.Limit%100*percent/100 {
			return int(percent)
		}
	}
	return 0
}

// urgent is the percentage of the context window from which the model is asked to save room.
const urgent = 75

// Steps describes the model's todo list.
type Steps struct {
	Open  []string // not completed, as the tool's result shows them
	Done  int      // the number of completed steps
	Quiet int      // answers since the list was last written
}

// Own returns the generators that need only the snapshot.
func Own() []Generator {
	pure := func(kind string, say func(Snapshot) Said) Generator {
		return Generator{kind, func(_ context.Context, now Snapshot) Said { return say(now) }}
	}
	return []Generator{
		pure(Todo, todo), pure(VerifyPlan, verifyPlan), pure(WorkingMemory, workingMemory), pure(Budget, budget), pure(Context, fill),
		pure(DateChange, dateChange), pure(ModeChange, modeChange), pure(ModelSwitch, modelSwitch),
	}
}

// silent is the number of answers without a change of the todo list after which the model gets a reminder.
const silent = 10

// maxSteps limits the open steps in a reminder, in bytes.
const maxSteps = 800

func todo(now Snapshot) Said {
	tens := now.Steps.Quiet / silent
	said := Said{State: strconv.Itoa(tens)}
	before, _ := strconv.Atoi(now.Told[Todo]) // unknown: 0
	if tens <= before || len(now.Steps.Open) == 0 {
		return said
	}
	open := strings.Join(now.Steps.Open, "\n")
	if len(open) > maxSteps {
		open = texts.ClipBytes(open, maxSteps) + "…"
	}
	said.Text = fmt.Sprintf("Your list has open steps and has not changed for %d answers. Update it, or continue with them.\n%s", now.Steps.Quiet, open)
	return said
}

// verifyPlan asks once to check the result, when the last step of a list is done.
func verifyPlan(now Snapshot) Said {
	if len(now.Steps.Open) > 0 || now.Steps.Done == 0 {
		return Said{State: "open"}
	}
	said := Said{State: "done"}
	if now.Told[VerifyPlan] != said.State {
		said.Text = "All steps of your list are done. Before you say so, check the result against what the user asked for: run the tests, or read what you changed. Fix what is missing first."
	}
	return said
}

// Repeated returns the generator of texts that every request carries until the prompt is done.
func Repeated(all []string) Generator {
	text := strings.Join(all, "\n")
	return Generator{Critical, func(context.Context, Snapshot) Said { return Said{Text: text} }}
}

// budget reports the cost of an exchange, once per exchange and level.
func budget(now Snapshot) Said {
	level := now.Cost.crossed()
	said := Said{State: fmt.Sprintf("%d/%d", now.Task, level)}
	task, before, _ := strings.Cut(now.Told[Budget], "/")
	last, _ := strconv.Atoi(before) // unknown: 0
	if task != strconv.Itoa(now.Task) {
		last = 0
	}
	if level > last {
		said.Text = fmt.Sprintf("%d %% of the money for this prompt is used: %s of %s.", level, model.Money(now.Cost.Used), model.Money(now.Cost.Limit))
		if level >= urgent {
			said.Text += " You are stopped at the limit: finish what matters most."
		}
	}
	return said
}

// fill reports the use of the context window, once per level until the conversation shrinks again.
func fill(now Snapshot) Said {
	level := now.Fill.crossed()
	said := Said{State: strconv.Itoa(level)}
	if last, _ := strconv.Atoi(now.Told[Context]); level > last { // unknown: 0
		said.Text = fmt.Sprintf("The conversation fills about %d %% of your context window: %s of %s tokens.", level, texts.Count(int(now.Fill.Used)), texts.Count(int(now.Fill.Limit)))
		if level >= urgent {
			said.Text += " Read only what you need, in small parts, and note what you need from long results."
		}
	}
	return said
}

func dateChange(now Snapshot) Said {
	said := Said{State: now.Date}
	if now.Date != "" && now.Dated != "" && now.Date != now.Dated {
		said.Text = "The date has changed. Today is " + now.Date + "."
	}
	return said
}

// modeChange reports a new approval mode.
func modeChange(now Snapshot) Said {
	said := Said{State: string(now.Mode)}
	if before := now.Told[ModeChange]; before != "" && before != said.State {
		said.Text = fmt.Sprintf("The approval mode has changed from %s to %s: %s.", before, now.Mode, meanings[now.Mode])
	}
	return said
}

// meanings explains each mode to the model.
var meanings = map[action.Mode]string{
	action.ModeAsk:    "read-only actions run, the user decides the rest",
	action.ModeStrict: "the user decides everything",
	action.ModeEdits:  "read-only actions and file changes in the workspace run, the user decides the rest",
	action.ModeAuto:   "commands run in a sandbox without asking: they can write only to the workspace and reach only hosts that the user allows while they run, by http and https; if one needs more, ask the user with \"outside\": true and a reason; files in the workspace may be changed",
	action.ModePlan:   "read-only actions run, everything else is denied",
	action.ModeAll:    "every call runs unless a rule denies it",
	action.ModeNone:   "read-only actions run, nobody can approve the rest",
}

// modelSwitch tells the model that another model wrote the earlier answers.
func modelSwitch(now Snapshot) Said {
	said := Said{State: now.Model}
	if before := now.Told[ModelSwitch]; before != "" && before != said.State {
		said.Text = fmt.Sprintf("You are %s. The user switched to you; %s wrote the answers so far.", now.Model, before)
	}
	return said
}
