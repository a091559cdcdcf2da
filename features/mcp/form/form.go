// Package form asks the user for values that an MCP server requests, which the protocol calls elicitation. It either
// shows a form, whose values the user reviews before they are sent, or an address to visit.
//
//	fields, err := form.Fields(params.RequestedSchema)
//	answer, err := form.Ask(ctx, form.Form{Server: "files", Message: params.Message, Fields: fields}, call.Ask)
//	return &mcp.ElicitResult{Action: answer.Action, Content: answer.Values}, err
//
// A form is a series of ordinary questions, so it works on the full screen, on several screens at once, and line by
// line. If no user can answer, the request is declined.
package form

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"buddy/texts"
	"buddy/tools"
)

// Form is a form of a server. Its texts come from the server and are untrusted.
type Form struct {
	Server  string
	Message string
	Fields  []Field
}

// Answer is the person's reaction to a form. Values is set on Accept, without the optional fields that were skipped.
type Answer struct {
	Action string // Accept, Decline or Cancel
	Values map[string]any
}

// The actions of an answer, spelled as in the protocol.
const (
	Accept  = "accept"
	Decline = "decline"
	Cancel  = "cancel"
)

// AskFunc asks one question; see [tools.Call]. It is nil if nobody can be asked.
type AskFunc = func(context.Context, tools.Question) (string, error)

// Limits of the texts that a server may show, in bytes.
const (
	maxMessage = 2000
	maxText    = 200 // of a title, an option, a value in the overview
	maxAbout   = 500
)

// ErrSecret is returned for a form that asks for a secret, which the protocol forbids. The person is not asked. The
// text of the error is for the person and the model.
type ErrSecret struct{ Server, Field string }

// Error names the server and the field.
func (e *ErrSecret) Error() string {
	return fmt.Sprintf("the server %q asked for a secret (field %q), so buddy declined; give the secret to the server in its settings (env, headers or a login)",
		e.Server, e.Field)
}

// Ask shows a form, filled with its defaults, until the user sends, declines or cancels it, or ctx ends, which cancels
// it.
func Ask(ctx context.Context, f Form, ask AskFunc) (Answer, error) {
	if name, secret := secretField(f.Fields); secret {
		return Answer{Action: Decline}, &ErrSecret{f.Server, name}
	}
	if ask == nil {
		return Answer{Action: Decline}, nil
	}
	w := &writing{form: f, ask: ask, values: make(map[string]any)}
	for _, field := range f.Fields {
		if field.Default != nil {
			w.values[field.Name] = field.Default
		}
	}
	action, err := w.fill(ctx)
	switch {
	case errors.Is(err, tools.ErrNobody):
		return Answer{Action: Decline}, nil
	case err != nil:
		return Answer{Action: Cancel}, err
	case action == Accept:
		return Answer{Action: Accept, Values: w.values}, nil
	}
	return Answer{Action: action}, nil
}

// writing is a form that is being filled in.
type writing struct {
	form   Form
	ask    AskFunc
	values map[string]any
}

// The choices of the overview besides the fields.
const (
	sendIt    = "Send"
	fillIn    = "Fill in"
	declineIt = "Decline"
	cancelIt  = "Cancel"
)

// fill shows the overview and executes choices, until one ends the form.
func (w *writing) fill(ctx context.Context) (action string, err error) {
	for {
		choices, fields := w.choices()
		answer, err := w.ask(ctx, tools.Question{From: w.form.Server, Text: texts.ClipBytes(w.form.Message, maxMessage), Choices: choices})
		if err != nil {
			return Cancel, err
		}
		switch i := slices.Index(choices, strings.TrimSpace(answer)); {
		case i < 0: // typed text that is no choice: show the overview again
		case choices[i] == sendIt:
			return Accept, nil
		case choices[i] == declineIt:
			return Decline, nil
		case choices[i] == cancelIt:
			return Cancel, nil
		case choices[i] == fillIn:
			err = w.fields(ctx, w.missing())
		default:
			err = w.fields(ctx, fields[i:i+1])
		}
		if err != nil {
			return Cancel, err
		}
	}
}

// choices returns the choices of the overview: sending, each field with its value, declining, cancelling. fields has
// the field of a choice at the same index.
func (w *writing) choices() (choices []string, fields []Field) {
	choices, fields = []string{sendIt}, []Field{{}}
	if len(w.missing()) > 0 {
		choices[0] = fillIn
	}
	for _, f := range w.form.Fields {
		line := f.label() + ": " + w.shown(f)
		if slices.Contains(choices, line) { // two fields with the same title
			line = f.Name + ": " + w.shown(f)
		}
		choices, fields = append(choices, line), append(fields, f)
	}
	return append(choices, declineIt, cancelIt), fields
}

// missing returns the required fields without a value.
func (w *writing) missing() []Field {
	return slices.DeleteFunc(slices.Clone(w.form.Fields), func(f Field) bool {
		_, has := w.values[f.Name]
		return has || !f.Required
	})
}

// shown returns the value of a field for the overview.
func (w *writing) shown(f Field) string {
	value, has := w.values[f.Name]
	switch {
	case !has && f.Required:
		return "(needed)"
	case !has:
		return "(left out)"
	}
	return f.show(value)
}

// fields asks for the values of several fields.
func (w *writing) fields(ctx context.Context, all []Field) error {
	for _, f := range all {
		if err := w.field(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// field asks for a value until it fits.
func (w *writing) field(ctx context.Context, f Field) error {
	wrong := ""
	for {
		answer, err := w.ask(ctx, tools.Question{From: w.form.Server, Text: wrong + f.question(), Choices: f.choices()})
		if err != nil {
			return err
		}
		value, err := f.parse(answer)
		switch {
		case err != nil:
			wrong = err.Error() + "\n"
			continue
		case value == nil:
			delete(w.values, f.Name)
		default:
			w.values[f.Name] = value
		}
		return nil
	}
}
