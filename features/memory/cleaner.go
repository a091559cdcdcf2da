package memory

import (
	"buddy/agent/redact"
	"buddy/texts"
)

// cleaner takes secrets out of what gets into files, also those that only look like one. Texts are cut
// after that: half a secret is not found.
type cleaner struct{ known *redact.Redactor }

func (c cleaner) text(s string) string { return redact.Entropy(c.known.Text(s)) }

// line returns a text as a line of at most MaxText characters.
func (c cleaner) line(s string) string { return texts.Clip(texts.OneLine(c.text(s)), MaxText) }

// record makes the texts of a record what may be stored.
func (c cleaner) record(r *Record) {
	if r.Kind == observation {
		whole := c.text(r.Text)
		r.Text = texts.Clip(texts.OneLine(whole), MaxText)
		if claim := sentence(whole); claim != "" { // it may be further down
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
