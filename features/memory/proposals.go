package memory

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
)

// Proposal is an entry that takes effect only if the person accepts it. It comes from output or from the model.
type Proposal struct {
	ID     string
	Draft  Draft
	Source string // tool:NAME, or the author
	From   []string
}

// proposal returns a draft as a record without secrets.
func (s *Store) proposal(d Draft, source string) Record {
	d.Kind, d.Scope = cmp.Or(d.Kind, Rule), cmp.Or(d.Scope, Folder)
	return Record{
		Kind: proposal, ID: newID("p", 6, nil, string(d.Kind), string(d.Scope), normal(d.Text)), Time: s.o.Now().UTC(), Session: s.o.Session,
		Source: source, Target: d.Target, Text: s.clean.line(d.Text),
		Proposed: &Proposed{EntryKind: d.Kind, Scope: d.Scope},
	}
}

// Propose records an entry for the person to accept; source names its author. Known entries and rejected proposals are
// refused, and an open proposal is not repeated.
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
	all, _, err := o.read(neededForDistilling)
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

// open returns the proposals without an answer, oldest first.
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

// Proposals returns the proposals that need a decision, oldest first.
func (s *Store) Proposals(context.Context) ([]Proposal, error) {
	if err := s.ended(); err != nil || !(observed{s.o.Dir}).exists() {
		return nil, err
	}
	all, _, err := observed{s.o.Dir}.read(neededForDistilling)
	return open(all), err
}

// Accept turns a proposal into an entry; a text other than "" replaces its text.
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
		return p, fmt.Errorf("memory has no open proposal %q (/memory lists them)", id)
	}
	return p, nil
}

// answer records that the person has decided about a proposal.
func (s *Store) answer(id string) error {
	o := observed{s.o.Dir}
	unlock, err := o.lock()
	if err != nil {
		return err
	}
	defer unlock()
	return o.append(Record{Kind: answered, Time: s.o.Now().UTC(), Session: s.o.Session, IDs: []string{id}})
}

// Records returns records by id. Ids whose records were dropped or are on another machine are missing.
func (s *Store) Records(ids []string) (map[string]Record, error) {
	wanted := make(map[string]bool, len(ids))
	for _, id := range ids {
		wanted[id] = true
	}
	found := make(map[string]Record)
	if s.ended() != nil || len(wanted) == 0 || !(observed{s.o.Dir}).exists() {
		return found, nil
	}
	all, _, err := observed{s.o.Dir}.read(func(line []byte) bool {
		_, rest, _ := bytes.Cut(line, []byte(`"id":"`))
		id, _, _ := bytes.Cut(rest, []byte(`"`))
		return wanted[string(id)]
	})
	for _, r := range all {
		if wanted[r.ID] {
			found[r.ID] = r
		}
	}
	return found, err
}
