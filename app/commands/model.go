package commands

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/compose"
	"buddy/app/show"
	"buddy/app/slash"
)

func init() {
	add(slash.Command{
		Name: "model", Args: "[NAME]", Brief: "switch model", Use: 1, Early: true, Means: []string{"switch", "provider"},
		Help: "switch to another model; without a name, choose from a list",
	}, onModels)
}

// onModels lists the models, or switches to the model with the given name or number in the list. The list of all models
// takes longer, because the servers on this machine are queried.
func onModels(ctx context.Context, s *Session, args []string) (show.Answer, error) {
	switch name := textOf(args); name {
	case "":
		list := modelList(compose.OffersOf(ctx, s.Setup.Config, s.Setup.Index, false), s.answering())
		list.Rest = []string{"model", "all"}
		return show.Answer{List: list}, nil
	case "all":
		return show.Answer{List: modelList(compose.OffersOf(ctx, s.Setup.Config, s.Setup.Index, true), s.answering())}, nil
	case "local":
		var local []compose.Offer
		for _, o := range compose.OffersOf(ctx, s.Setup.Config, s.Setup.Index, true) {
			if o.Local {
				local = append(local, o)
			}
		}
		list := modelList(local, s.answering())
		list.Title, list.Empty = "Models on this machine", "No model server is running here; start one, such as: ollama serve"
		return show.Answer{List: list}, nil
	default:
		if n, err := strconv.Atoi(name); err == nil && n > 0 {
			offers := compose.OffersOf(ctx, s.Setup.Config, s.Setup.Index, true)
			if n > len(offers) {
				return show.Answer{}, fmt.Errorf("there are %d models", len(offers))
			}
			name = offers[n-1].Name
		}
		s.Send(event.SwitchModel{Profile: name})
		return show.Answer{}, nil
	}
}

// answering returns the name of the model that answers.
func (s *Session) answering() string { return cmp.Or(s.now().Info.Profile, model.Demo) }

// modelList lists models with their window, price and effort, or the reason why they can't be used.
func modelList(offers []compose.Offer, now string) *show.List {
	list := show.List{
		Title: "Models", Columns: []string{"name", "model", "window", "in/out per 1M", "state"},
		Usage: "/model NAME or NUMBER switches to a model. NAME/MODEL uses another model of the same provider.",
	}
	for _, o := range offers {
		r := show.Row{ID: o.Name, Mark: o.Name == now, Cells: []string{o.Name, o.ModelText(), o.WindowText(), o.PriceText(), strings.TrimSuffix("ready · "+o.Effort, " · ")}}
		if o.Usable {
			r.Deeds = []show.Deed{{Label: "switch to it", Run: []string{"model", o.Name}, Closes: true}}
		} else {
			r.Cells[4], r.Line = o.LackBrief(), o.Name+": "+o.Lack()
		}
		list.Rows = append(list.Rows, r)
	}
	return &list
}
