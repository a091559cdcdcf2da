package memory

import (
	"buddy/agent/redact"
	"buddy/texts"
)

// cleaner removes secrets, and strings that look like secrets, from texts before they are stored. It must run before a
// text is cut, because half a secret is not found.
type cleaner struct{ known *redact.Redactor }

func (c cleaner) text(s string) string { return redact.Entropy(c.known.Text(s)) }

// line removes secrets and returns one line of at most MaxText characters.
func (c cleaner) line(s string) string { return texts.Clip(texts.OneLine(c.text(s)), MaxText) }

// record cleans and cuts the texts of a record. An observation keeps the first sentence that reads like a rule.
func (c cleaner) record(r *Record) {
	if r.Kind == observation {
		whole := c.text(r.Text)
		r.Text = texts.Clip(texts.OneLine(whole), MaxText)
		if claim := sentence(whole); claim != "" { // the sentence may be beyond the cut
			r.Text, r.Tags = texts.OneLine(claim), append(r.Tags, claims)
		}
	} else {
		r.Text = c.line(r.Text)
	}
	if was := r.Corrected; was != nil {
		r.Corrected = &Corrected{c.line(was.Original), c.line(was.Corrected), c.line(was.Context)}
	}
	for i, tag := range r.Tags {
		r.Tags[i] = c.line(tag)
	}
}
