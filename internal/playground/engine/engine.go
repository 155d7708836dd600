package engine

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/wpm-go/wpm/ldp"
)

// Answer is one line. Distances are in Unit of the world.
type Answer struct {
	ID    uint64 `json:"id"`
	Error string `json:"error,omitempty"`

	World  *WorldAnswer  `json:"world,omitempty"`
	Me     []Stay        `json:"me,omitempty"`
	Design *DesignAnswer `json:"design,omitempty"`
	Map    *MapAnswer    `json:"map,omitempty"`
	Proof  *ProofAnswer  `json:"proof,omitempty"`
	Broken *BrokenAnswer `json:"broken,omitempty"`
	Drawn  *int          `json:"drawn,omitempty"` // a place
	Sum    *SumAnswer    `json:"sum,omitempty"`
}

// Engine answers requests. It is not safe for concurrent use.
type Engine struct {
	world  *world
	crowd  *crowd
	design *design
}

// Serve answers each line of r by one on w, until r ends. Errors of requests are answers; the error returned is that of
// r or w.
func Serve(ctx context.Context, r io.Reader, w io.Writer) error {
	var e Engine
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		text, err := json.Marshal(e.Answer(ctx, lines.Bytes()))
		if err != nil {
			return err
		}
		if _, err := w.Write(append(text, '\n')); err != nil {
			return err
		}
	}
	return lines.Err()
}

// Answer answers one line.
func (e *Engine) Answer(ctx context.Context, line []byte) Answer {
	var q Request
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&q); err != nil {
		return Answer{Error: fmt.Sprintf("%v: %v", ErrRequest, err)}
	}
	a, err := e.do(ctx, q)
	if err != nil {
		a = Answer{Error: err.Error()}
	}
	a.ID = q.ID
	return a
}

func (e *Engine) do(ctx context.Context, q Request) (a Answer, err error) {
	if q.Do == World || e.world == nil {
		w, err := newWorld(q.Points, q.Counts, e.world)
		if err != nil {
			return a, err
		}
		e.world, e.crowd, e.design = w, nil, nil
	}
	switch q.Do {
	case World:
		a.World = e.world.answer()
		return a, nil
	case Person:
		a.Me, err = e.world.person(q.Person)
		return a, err
	}
	eps, err := ldp.ParseEpsilon(q.Eps)
	if err != nil {
		return a, err
	}
	if eps.Float64() > MaxEps {
		return a, fmt.Errorf("%w: eps is %s, want above 0 and at most %d", ErrRequest, q.Eps, MaxEps)
	}
	if e.design == nil || e.design.eps.Cmp(eps) != 0 {
		if e.design, err = e.world.design(ctx, eps); err != nil {
			return a, err
		}
	}
	return e.about(ctx, q)
}

// about answers what needs a design.
func (e *Engine) about(ctx context.Context, q Request) (a Answer, err error) {
	switch q.Do {
	case Design:
		a.Design, err = e.design.cloud(ctx, q.Me)
	case Draw:
		a.Drawn, err = e.design.draw(q.Me, q.Person)
	case Prove:
		a.Proof, err = e.design.prove(ctx)
	case Break:
		a.Broken, err = e.design.broken()
	case Sum:
		a.Sum, err = e.design.sum(q.People)
	case Truth, Raw, Estimate, OUE:
		if e.crowd == nil || e.crowd.seed != q.Seed || e.crowd.size() != q.People {
			if e.crowd, err = e.world.crowd(q.Seed, q.People); err != nil {
				return a, err
			}
		}
		a.Map, err = e.crowd.picture(ctx, e.design, q.Do)
	default:
		err = fmt.Errorf("%w: %q is not something to do", ErrRequest, q.Do)
	}
	return a, err
}
