package record

import "buddy/agent/event"

const (
	keptOutput = 64 << 10 // bytes kept of the output of a running call
	keptPieces = 4096     // pieces of these bytes that are kept
)

// output holds the end of a running call's output.
type output struct {
	text   []byte
	start  int64 // offset of text in the whole output
	pieces []piece
}

// piece is the output of one event.
type piece struct {
	end   int64          // end offset in the whole output
	event event.Envelope // without its text
}

func (o *output) add(env event.Envelope, p event.ToolOutput) {
	o.text = append(o.text, p.Text...)
	p.Text = ""
	env.Payload = p
	o.pieces = append(o.pieces, piece{o.start + int64(len(o.text)), env})
	if len(o.text) > 2*keptOutput || len(o.pieces) > 2*keptPieces {
		o.trim()
	}
}

// trim drops the beginning of the output, so that the kept size remains. add calls trim only at twice that size, so
// that the cost of a piece does not depend on the length of the output.
func (o *output) trim() {
	keep := o.start + int64(len(o.text)-min(len(o.text), keptOutput))
	n := max(len(o.pieces)-keptPieces, 0)
	for n < len(o.pieces)-1 && o.pieces[n].end <= keep {
		n++
	}
	if n > 0 {
		keep = max(keep, o.pieces[n-1].end)
	}
	o.pieces = append(o.pieces[:0], o.pieces[n:]...)
	o.text = append(o.text[:0], o.text[keep-o.start:]...)
	o.start = keep
}

// since returns the output of the events with numbers above the given one. Consecutive pieces of one stream are joined.
func (o *output) since(after uint64) (all []event.Envelope) {
	from := o.start
	for i, p := range o.pieces {
		out := p.event.Payload.(event.ToolOutput)
		if p.event.Seq <= after {
			from = p.end
			continue
		}
		if i+1 < len(o.pieces) && o.pieces[i+1].event.Payload.(event.ToolOutput).Stream == out.Stream {
			continue // the next one includes it
		}
		out.Text = string(o.text[from-o.start : p.end-o.start])
		from = p.end
		env := p.event
		env.Payload = out
		all = append(all, env)
	}
	return all
}
