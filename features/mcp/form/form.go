// Package form puts what a server wants to know to the person (elicitation of the Model Context
// Protocol): a form that shows all its values before they are sent, or an address to visit.
//
// A form is a row of questions, so it works wherever a question does: docked on the screen, on
// several screens at once, line by line. Where nobody can be asked it is declined.
//
//	fields, err := form.Fields(params.RequestedSchema)
//	answer, err := form.Ask(ctx, form.Form{Server: "files", Message: params.Message, Fields: fields}, call.Ask)
//	return &mcp.ElicitResult{Action: answer.Action, Content: answer.Values}, err
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

// Form holds the question of a server and its fields. Its texts are the server's, and untrusted.
type Form struct {
	Server  string
	Message string
	Fields  []Field
}

// Answer says what a person did with a form. Values is set when they accepted; it has no value of
// an optional field that was left out.
type Answer struct {
	Action string // Accept, Decline or Cancel
	Values map[string]any
}

// The actions of an answer, as the protocol spells them.
const (
	Accept  = "accept"
	Decline = "decline"
	Cancel  = "cancel"
)

// AskFunc asks one question; see [tools.Call]. nil where nobody can be asked.
type AskFunc = func(context.Context, tools.Question) (string, error)

// Limits of what a server may show, in bytes.
const (
	maxMessage = 2000
	maxText    = 200 // of a title, an option, a value in the overview
	maxAbout   = 500
)

// ErrSecret is returned for a form that asks for a secret: the protocol forbids that, and the
// person is not asked. Its text is for the person and the model.
type ErrSecret struct{ Server, Field string }

// Error names the server and the field.
func (e *ErrSecret) Error() string {
	return fmt.Sprintf("the server %q asked for a secret (field %q), which no server may ask for: declined; give it to the server by its settings (env, headers or a login)",
		e.Server, e.Field)
}

// Ask shows a form until the person sends, declines or cancels it. Its values begin with their
// defaults. Esc leaves it open; the end of ctx cancels it.
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

// writing is a form that a person fills in.
type writing struct {
	form   Form
	ask    AskFunc
	values map[string]any
}

// The choices of the overview beside the fields.
const (
	sendIt    = "Send"
	fillIn    = "Fill in"
	declineIt = "Decline"
	cancelIt  = "Cancel"
)

// fill shows the fields with their values and does what the person chooses, until that ends the form.
func (w *writing) fill(ctx context.Context) (action string, err error) {
	for {
		choices, fields := w.choices()
		answer, err := w.ask(ctx, tools.Question{From: w.form.Server, Text: texts.ClipBytes(w.form.Message, maxMessage), Choices: choices})
		if err != nil {
			return Cancel, err
		}
		switch i := slices.Index(choices, strings.TrimSpace(answer)); {
		case i < 0: // what was typed is no choice: show them again
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

// choices returns what can be done now: each field with its value is one that asks for it. fields has
// the field of a choice at its index.
func (w *writing) choices() (choices []string, fields []Field) {
	choices, fields = []string{sendIt}, []Field{{}}
	if len(w.missing()) > 0 {
		choices[0] = fillIn
	}
	for _, f := range w.form.Fields {
		line := f.label() + ": " + w.shown(f)
		if slices.Contains(choices, line) { // two fields with one title
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

// shown is the value of a field for the person.
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

// fields asks for the values of fields, one after another.
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
