package workflow

import (
	"slices"
	"strings"

	"buddy/texts"
)

// references checks the references between the parts of a workflow: steps must not wait for each other, and each
// value must be known where it is used.
func (r *reader) references() {
	for i := range r.w.Steps {
		r.order(i)
	}
	if len(r.mistakes) > 0 {
		return
	}
	for i := range r.w.Steps {
		r.eachTarget(&r.w.Steps[i])
		r.used(&r.w.Steps[i])
	}
	for _, out := range r.w.Outputs {
		for _, ref := range out.Text.Refs() {
			r.known(ref, "outputs."+out.Name, out.Text.line, nil)
		}
	}
}

// order checks that step i needs only steps above it. If steps need each other, its message shows the cycle.
func (r *reader) order(i int) {
	s := r.w.Steps[i]
	key := "steps." + s.ID + ".needs"
	for _, id := range s.Needs {
		at := slices.IndexFunc(r.w.Steps, func(o Step) bool { return o.ID == id })
		switch {
		case at < 0:
			r.wrong(s.Line, key, "there is no step %q", texts.Clip(id, 64))
		case at == i:
			r.wrong(s.Line, key, "is a cycle: the step needs itself")
		case at > i:
			if way := r.way(at, i, nil); way != nil {
				r.wrong(s.Line, key, "is a cycle: %s → %s", s.ID, strings.Join(way, " → "))
			} else {
				r.wrong(s.Line, key, "%s is below: move it above this step", id)
			}
		}
	}
}

// way returns the chain of steps through which the step from depends on the step to, or nil.
func (r *reader) way(from, to int, seen []int) []string {
	s := r.w.Steps[from]
	if from == to {
		return []string{s.ID}
	}
	if slices.Contains(seen, from) {
		return nil
	}
	seen = append(slices.Clone(seen), from)
	for _, id := range s.Needs {
		next := slices.IndexFunc(r.w.Steps, func(o Step) bool { return o.ID == id })
		if next < 0 {
			continue
		}
		if way := r.way(next, to, seen); way != nil {
			return append([]string{s.ID}, way...)
		}
	}
	return nil
}

// before returns the ids of all steps that have ended when a step starts.
func (w *Workflow) before(s *Step) map[string]bool {
	all := make(map[string]bool)
	next := slices.Clone(s.Needs)
	for len(next) > 0 {
		id := next[0]
		if next = next[1:]; all[id] {
			continue
		}
		all[id] = true
		if o := w.Step(id); o != nil {
			next = append(next, o.Needs...)
		}
	}
	return all
}

// eachTarget determines whether the items of a step are targets.
func (r *reader) eachTarget(s *Step) {
	if s.Each == nil || s.Each.ref == nil || s.Target != nil {
		return
	}
	ref := *s.Each.ref
	if in := r.w.input(ref.Input); in != nil {
		s.EachTarget = in.Type == Targets
	}
	if ref.Field == "done" || ref.Field == "failed" {
		of := r.w.Step(ref.Step)
		s.EachTarget = of != nil && of.EachTarget
	}
}

// used checks the values used by a step.
func (r *reader) used(s *Step) {
	key := "steps." + s.ID
	before := r.w.before(s)
	item := func(refs []Ref, key string, line int) {
		if s.Each == nil && slices.ContainsFunc(refs, Ref.IsItem) {
			r.wrong(line, key, "uses item, but the step has no key each")
		}
	}
	check := func(refs []Ref, key string, line int) {
		item(refs, key, line)
		for _, ref := range refs {
			r.known(ref, key, line, before)
		}
	}
	for _, name := range s.Params.names {
		s.Params.values[name].each(func(t *Template, _ int) {
			for _, p := range t.parts {
				if p.ref != nil {
					check([]Ref{*p.ref}, key+".params."+name, t.line+p.line)
				}
			}
		})
	}
	if s.Target != nil {
		check(s.Target.Refs(), key+".target", s.Target.line)
	}
	if s.Each != nil {
		r.eachUsed(s, before)
	}
	r.holds(s.Condition, s, key+".condition", before)
	if g := s.Gate; g != nil {
		check(g.Message.Refs(), key+".gate.message", g.Message.line)
		r.holds(g.When, s, key+".gate.when", before)
		g.PerItem = slices.ContainsFunc(slices.Concat(g.Message.Refs(), g.When.Refs()), Ref.IsItem)
	}
}

// eachUsed checks the list of a step.
func (r *reader) eachUsed(s *Step, before map[string]bool) {
	key := "steps." + s.ID + ".each"
	refs := []Ref{}
	if s.Each.ref != nil {
		refs = append(refs, *s.Each.ref)
	}
	for _, t := range s.Each.items {
		refs = append(refs, t.Refs()...)
	}
	for _, ref := range refs {
		switch {
		case ref.IsItem():
			r.wrong(s.Line, key, "can't use item, because item is one of the values in this list")
		case r.known(ref, key, s.Line, before) && s.Each.ref != nil && r.kind(ref) != list && r.kind(ref) != text:
			r.wrong(s.Line, key, "%s is %s, not a list", ref, r.kind(ref))
		}
	}
}

// holds checks a condition of a step.
func (r *reader) holds(c *Condition, s *Step, key string, before map[string]bool) {
	if c == nil {
		return
	}
	known := true
	for _, ref := range c.Refs() {
		if ref.IsItem() && (s.Each == nil || strings.HasSuffix(key, ".condition")) {
			r.wrong(c.line, key, "can't use item here")
			known = false
			continue
		}
		known = r.known(ref, key, c.line, before) && known
	}
	if !known {
		return
	}
	switch k, err := c.root.kindIn(r.kind); {
	case err != nil:
		r.wrong(c.line, key, "%v", err)
	case k != truth:
		r.wrong(c.line, key, "%s is %s, not a condition", c.root, k)
	}
}

// known reports whether the value of a reference exists and is known where it is used. before has the steps that have
// ended there; nil stands for all steps.
func (r *reader) known(ref Ref, key string, line int, before map[string]bool) bool {
	switch {
	case ref.Input != "":
		if r.w.input(ref.Input) == nil {
			r.wrong(line, key, "there is no input %q (have: %s)", ref.Input, r.w.inputNames())
			return false
		}
	case ref.IsItem():
		if before == nil {
			r.wrong(line, key, "item can't be used here")
			return false
		}
	default:
		of := r.w.Step(ref.Step)
		switch {
		case of == nil:
			r.wrong(line, key, "there is no step %q", ref.Step)
			return false
		case before != nil && !before[ref.Step]:
			r.wrong(line, key, "the step %s may not have ended by then: add it to needs", ref.Step)
			return false
		case of.Each == nil && (ref.Field == "done" || ref.Field == "failed"):
			r.wrong(line, key, "the step %s has no key each, so it has no %s items", ref.Step, ref.Field)
			return false
		}
	}
	return true
}

// kind returns the kind of a reference's value.
func (r *reader) kind(ref Ref) kind {
	if ref.Step != "" {
		return fields[ref.Field]
	}
	in := r.w.input(ref.Input)
	switch {
	case in == nil:
		return text
	case in.Type.Many():
		return list
	case in.Type == Int:
		return number
	case in.Type == Bool:
		return truth
	}
	return text
}
