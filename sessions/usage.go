package sessions

import (
	"cmp"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/renameio/v2"

	"buddy/agent/event"
	"buddy/agent/model"
)

// Use holds the requests to one model on one day.
type Use struct {
	Day        string      `json:"day,omitempty"`   // in local time, as 2006-01-02
	Model      string      `json:"model,omitempty"` // "" if the session does not say which
	Requests   int         `json:"requests"`
	Prompt     int         `json:"prompt"` // tokens, including Cached
	Cached     int         `json:"cached,omitempty"`
	Completion int         `json:"completion"`
	Cost       model.Money `json:"cost,omitempty"`
	Unpriced   int         `json:"unpriced,omitempty"` // requests whose cost is unknown
}

// Add adds the numbers of another use.
func (u *Use) Add(v Use) {
	u.Requests += v.Requests
	u.Prompt += v.Prompt
	u.Cached += v.Cached
	u.Completion += v.Completion
	u.Cost += v.Cost
	u.Unpriced += v.Unpriced
}

// uses are sums by day and model.
type uses map[[2]string]Use

func (all uses) add(u Use) {
	key := [2]string{u.Day, u.Model}
	s := all[key]
	s.Day, s.Model = u.Day, u.Model
	s.Add(u)
	all[key] = s
}

func (all uses) sorted() []Use {
	return slices.SortedFunc(maps.Values(all), func(a, b Use) int { return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Model, b.Model)) })
}

// used holds the sums of a session's file. The file only grows, so each line is read once.
type used struct {
	Size     int64  `json:"size"`
	Time     int64  `json:"time"`               // of the last change, in Unix nanoseconds
	Read     int64  `json:"read"`               // bytes that Uses covers
	From     uint64 `json:"from,omitempty"`     // in a fork: the last event that was copied from the other session
	Unpriced int    `json:"unpriced,omitempty"` // the session's count in the last event
	Uses     []Use  `json:"uses,omitempty"`
}

// usesIndex is the file that caches the uses of a store's sessions, by id.
type usesIndex struct {
	Version  int              `json:"version"`
	Sessions map[string]*used `json:"sessions"`
}

// usesVersion is the version of the index. An index of another version is discarded.
const usesVersion = 1

func usesPath(s Store) string { return filepath.Join(s.dir, ".uses") }

// Uses returns the requests of all sessions of a store, summed by day and model. Requests that a fork copied are not
// counted again. Uses caches the sums of each session in the store's folder, and reads only lines that are new.
func Uses(s Store) ([]Use, error) {
	dir, err := s.openDir()
	if errors.Is(err, ErrNone) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close() //nolint:errcheck // only read
	all, _, err := stat(dir, nil)
	if err != nil {
		return nil, err
	}
	index := usesIndex{Version: usesVersion, Sessions: make(map[string]*used, len(all))}
	if text, err := readSmall(usesPath(s)); err == nil {
		var old usesIndex
		if json.Unmarshal([]byte(text), &old) == nil && old.Version == usesVersion && old.Sessions != nil {
			index.Sessions = old.Sessions
		}
	}
	if readUses(s, index.Sessions, all) {
		if text, err := json.Marshal(index); err == nil {
			_ = renameio.WriteFile(usesPath(s), text, 0o600, renameio.WithExistingPermissions()) // only a cache
		}
	}
	sums := make(uses)
	for _, u := range index.Sessions {
		for _, one := range u.Uses {
			sums.add(one)
		}
	}
	return sums.sorted(), nil
}

// readUses brings an index up to date with the sessions that exist, and reports whether it has changed.
func readUses(s Store, index map[string]*used, all []Entry) (changed bool) {
	found := make([]*used, len(all))
	var stale []int
	for i, e := range all {
		u := index[e.ID]
		if u == nil || e.Size < u.Read {
			u = &used{}
		}
		if found[i] = u; u.Size != e.Size || u.Time != e.Used.UnixNano() {
			stale = append(stale, i)
		}
	}
	changed = len(stale) > 0 || len(index) != len(all)
	inParallel(len(stale), func(each iter.Seq[int]) {
		var raw rawScanner
		for n := range each {
			i := stale[n]
			if found[i].read(&raw, s.file(all[i].ID)) == nil {
				found[i].Size, found[i].Time = all[i].Size, all[i].Used.UnixNano()
			}
		}
	})
	clear(index)
	for i, e := range all {
		index[e.ID] = found[i]
	}
	return changed
}

var (
	usageType = []byte(`"type":"` + event.Type(event.MetricsUsage{}) + `"`)
	forkType  = []byte(`"type":"` + event.Type(event.SessionForked{}) + `"`)
)

// read adds the uses of new lines of a file.
func (u *used) read(raw *rawScanner, path string) error {
	f, err := OpenPlain(path, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if u.Read == 0 {
		if u.From, err = lastCopied(raw, f, info.Size()); err != nil {
			return err
		}
	}
	sums := make(uses)
	for _, one := range u.Uses {
		sums.add(one)
	}
	find := func(text []byte) int { return findType(text, usageType) }
	u.Read, err = raw.lines(f, u.Read, info.Size(), find, func(line []byte) bool {
		env, err := event.Decode(line)
		p, ok := env.Payload.(event.MetricsUsage)
		if !ok || err != nil {
			return true
		}
		if env.Seq > u.From {
			sums.add(Use{
				Day: time.UnixMilli(env.Time).Format(time.DateOnly), Model: p.Model, Requests: 1,
				Prompt: p.Prompt, Cached: p.Cached, Completion: p.Completion, Cost: p.Cost, Unpriced: max(0, p.SessionUnpriced-u.Unpriced),
			})
		}
		u.Unpriced = p.SessionUnpriced
		return true
	})
	u.Uses = sums.sorted()
	return err
}

// lastCopied returns the number of the last event that a fork copied, 0 in a session that is not a fork.
func lastCopied(raw *rawScanner, f *os.File, size int64) (from uint64, err error) {
	start := make([]byte, min(size, describeSize))
	if _, err := f.ReadAt(start, 0); err != nil {
		return 0, err
	}
	if h, _, _ := splitHeader(start); h.ForkedFrom == "" { // or it is no session
		return 0, nil
	}
	find := func(text []byte) int { return findType(text, forkType) }
	_, err = raw.lines(f, 0, size, find, func(line []byte) bool {
		env, err := event.Decode(line)
		if p, ok := env.Payload.(event.SessionForked); ok && err == nil {
			from = p.FromSeq
		}
		return true
	})
	return from, err
}
