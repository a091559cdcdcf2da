package event

import (
	"encoding/json"
	"fmt"
	"reflect"

	"buddy/texts"
)

// commands maps names on the wire to commands.
var commands = map[string]Command{
	"submit":          Submit{},
	"review":          Review{},
	"unqueue":         Unqueue{},
	"continue":        Continue{},
	"answer_approval": AnswerApproval{},
	"answer":          Answer{},
	"cancel":          Cancel{},
	"background":      Background{},
	"retry_now":       RetryNow{},
	"set_timeout":     SetTimeout{},
	"set_mode":        SetMode{},
	"cycle_mode":      CycleMode{},
	"set_goal":        SetGoal{},
	"change_goal":     ChangeGoal{},
	"start_loop":      StartLoop{},
	"stop_loop":       StopLoop{},
	"remove_rule":     RemoveRule{},
	"switch_model":    SwitchModel{},
	"switch_target":   SwitchTarget{},
	"compact":         Compact{},
	"pin":             Pin{},
	"rename":          Rename{},
	"undo":            Undo{},
	"rewind":          Rewind{},
	"redo":            Redo{},
	"run_workflow":    RunWorkflow{},
	"resume_workflow": ResumeWorkflow{},
	"cancel_workflow": CancelWorkflow{},
	"save_workflow":   SaveWorkflow{},
	"watch_panes":     WatchPanes{},
	"pane_input":      PaneInput{},
	"pane_paste":      PanePaste{},
	"fit_pane":        FitPane{},
	"read_pane":       ReadPane{},
	"kill_pane":       KillPane{},
}

var commandNames = func() map[reflect.Type]string {
	names := make(map[reflect.Type]string, len(commands))
	for name, c := range commands {
		names[reflect.TypeOf(c)] = name
	}
	return names
}()

// commandName returns the name of a command on the wire, "" for an unknown one.
func commandName(c Command) string { return commandNames[reflect.TypeOf(c)] }

// EncodeCommand returns the name and the JSON of a command. It fails for an unknown command.
func EncodeCommand(c Command) (name string, payload json.RawMessage, err error) {
	if name = commandName(c); name == "" {
		return "", nil, fmt.Errorf("command %T has no name on the wire", c)
	}
	payload, err = texts.JSON(c)
	return name, payload, err
}

// IsCommand reports whether a command has this name on the wire.
func IsCommand(name string) bool { return commands[name] != nil }

// DecodeCommand decodes a command from its name on the wire and its JSON. It ignores unknown fields.
func DecodeCommand(name string, payload json.RawMessage) (Command, error) {
	empty, ok := commands[name]
	if !ok {
		return nil, fmt.Errorf("unknown command %q", name)
	}
	c := reflect.New(reflect.TypeOf(empty))
	if err := json.Unmarshal(payload, c.Interface()); err != nil {
		return nil, fmt.Errorf("command %s: %w", name, err)
	}
	return c.Elem().Interface().(Command), nil
}
