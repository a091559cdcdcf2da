package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
)

// Proposal is an entry that holds only once the person accepts it: from output, or from the model.
type Proposal struct {
	ID     string
	Draft  Draft
	Source string // tool:NAME, or who proposes
	From   []string
}

// proposal returns a draft as a record. Its text has no secrets.
func (s *Store) proposal(d Draft, source string) Record {
	d.Kind, d.Scope = cmp.Or(d.Kind, Rule), cmp.Or(d.Scope, Folder)
	return Record{
		Kind: proposal, ID: newID("p", 6, nil, string(d.Kind), string(d.Scope), normal(d.Text)), Time: s.o.Now().UTC(), Session: s.o.Session,
		Source: source, Target: d.Target, Text: s.clean.line(d.Text),
		Proposed: &Proposed{EntryKind: d.Kind, Scope: d.Scope},
	}
}

// Propose notes an entry for the person to accept; source says who proposes it. What memory has is not
// proposed, and the same once only, never again after the person has rejected it.
func (s *Store) Propose(ctx context.Context, d Draft, source string) (Proposal, error) {
	if s.o.Dir == "" {
		return Proposal{}, errors.New("nothing can be proposed: [memory] observe is false")
	}
	if err := s.mayWrite(); err != nil {
		return Proposal{}, err
	}
	if _, err := s.entry(d, nil); err != nil {
		return Proposal{}, err
	}
	one := s.proposal(d, source)
	if !innocent(one.Text) {
		return Proposal{}, fmt.Errorf("%q reads like an order to an agent: it is not proposed", one.Text)
	}
	l, err := s.Entries(ctx)
	if err != nil {
		return Proposal{}, err
	}
	if i := slices.IndexFunc(l.Entries, func(e Entry) bool { return normal(e.Text) == normal(one.Text) }); i >= 0 {
		return Proposal{}, fmt.Errorf("memory has that already: %s", l.Entries[i].ID)
	}
	o := observed{s.o.Dir}
	unlock, err := o.lock()
	if err != nil {
		return Proposal{}, err
	}
	defer unlock()
	all, _, err := o.read(teaches)
	if err != nil {
		return Proposal{}, err
	}
	if slices.ContainsFunc(all, func(r Record) bool { return r.Kind == proposal && r.ID == one.ID }) {
		if _, open := find(open(all), one.ID); !open {
			return Proposal{}, fmt.Errorf("the user has decided about %q already", one.Text)
		}
		return proposalOf(one), ctx.Err()
	}
	return proposalOf(one), errors.Join(ctx.Err(), o.append(one))
}

func proposalOf(r Record) Proposal {
	return Proposal{
		ID: r.ID, Draft: Draft{Scope: r.Scope, Kind: r.EntryKind, Text: r.Text, Target: r.Target}, Source: r.Source, From: r.From,
	}
}

// open returns the proposals without an answer, the oldest first.
func open(all []Record) (some []Proposal) {
	done := make(map[string]bool)
	for _, r := range all {
		if r.Kind == answered {
			for _, id := range r.IDs {
				done[id] = true
			}
		}
	}
	for _, r := range all {
		if r.Kind == proposal && r.Proposed != nil && !done[r.ID] {
			done[r.ID] = true
			some = append(some, proposalOf(r))
		}
	}
	return some[max(0, len(some)-maxProposals):]
}

func find(all []Proposal, id string) (Proposal, bool) {
	i := slices.IndexFunc(all, func(p Proposal) bool { return p.ID == id })
	if i < 0 {
		return Proposal{}, false
	}
	return all[i], true
}

// Proposals returns what waits for the person, the oldest first.
func (s *Store) Proposals(context.Context) ([]Proposal, error) {
	switch {
	case s.isOff():
		return nil, errOff
	case !(observed{s.o.Dir}).exists():
		return nil, nil
	}
	all, _, err := observed{s.o.Dir}.read(teaches)
	return open(all), err
}

// Accept makes a proposal an entry, with another text if one is given.
func (s *Store) Accept(ctx context.Context, id, text string) (Change, error) {
	p, err := s.proposed(ctx, id)
	if err != nil {
		return Change{}, err
	}
	d := p.Draft
	d.Text = cmp.Or(text, d.Text)
	if d.Note = append(d.Note, "by:"+p.Source); len(p.From) > 0 {
		d.Note = d.Note.with("from", p.From[0])
	}
	c, err := s.Add(ctx, d)
	if err != nil {
		return c, err
	}
	return c, s.answer(id)
}

// Reject drops a proposal for good.
func (s *Store) Reject(ctx context.Context, id string) error {
	if _, err := s.proposed(ctx, id); err != nil {
		return err
	}
	if err := s.mayWrite(); err != nil {
		return err
	}
	return s.answer(id)
}

func (s *Store) proposed(ctx context.Context, id string) (Proposal, error) {
	all, err := s.Proposals(ctx)
	if err != nil {
		return Proposal{}, err
	}
	p, ok := find(all, id)
	if !ok {
		return p, fmt.Errorf("memory has no proposal %q that is open (/memory lists them)", id)
	}
	return p, nil
}

// answer notes that the person has decided about a proposal.
func (s *Store) answer(id string) error {
	o := observed{s.o.Dir}
	unlock, err := o.lock()
	if err != nil {
		return err
	}
	defer unlock()
	return o.append(Record{Kind: answered, Time: s.o.Now().UTC(), Session: s.o.Session, IDs: []string{id}})
}

// Reasons say where an entry or a proposal comes from.
type Reasons struct {
	Entry   Entry    // zero for a proposal
	Records []Record // what it was learned from, with sessions and calls; the oldest first
	Missing []string // ids of sources that are not there any more, or on another machine
}

// Why returns where an entry or a proposal comes from.
func (s *Store) Why(ctx context.Context, id string) (why Reasons, err error) {
	p, failed := s.proposed(ctx, id)
	if why.Missing = slices.Clone(p.From); failed != nil {
		l, err := s.Entries(ctx)
		i := slices.IndexFunc(l.Entries, func(e Entry) bool { return e.ID == id })
		if i < 0 {
			return why, cmp.Or(err, fmt.Errorf("memory has no entry %q (/memory lists them)", id))
		}
		why.Entry, why.Missing = l.Entries[i], l.Entries[i].Note.Sources()
	}
	if !(observed{s.o.Dir}).exists() || len(why.Missing) == 0 {
		return why, nil
	}
	all, _, err := observed{s.o.Dir}.read(every)
	for _, r := range all {
		if at := slices.Index(why.Missing, r.ID); at >= 0 {
			why.Missing = slices.Delete(why.Missing, at, at+1)
			why.Records = append(why.Records, r)
		}
	}
	return why, err
}
