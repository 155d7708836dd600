package dap

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/cloudflare/circl/vdaf/prio3/histogram"

	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/policy"
)

// Errors of this package, to be tested with errors.Is.
var (
	// ErrPolicy is for the zero policy.
	ErrPolicy = errors.New("dap: not a policy")
	// ErrReport is for a report of another policy.
	ErrReport = errors.New("dap: not a report of this policy")
	// ErrUpload is for an upload that is refused: it is malformed, or not one output.
	ErrUpload = errors.New("dap: upload refused")
	// ErrReplay is for an upload that was there before. It wraps ErrUpload.
	ErrReplay = fmt.Errorf("%w: its nonce was there before", ErrUpload)
	// ErrResult is for aggregate shares that do not fit together.
	ErrResult = errors.New("dap: invalid aggregate shares")
)

// Servers of a task.
const (
	Leader = 0
	Helper = 1
)

// Parameters are those of Prio3Histogram: what both servers and all clients must have alike.
type Parameters struct {
	VDAF       string `json:"vdaf"`
	Shares     int    `json:"shares"`
	Length     int    `json:"length"`       // outputs
	Chunk      int    `json:"chunk_length"` // about sqrt(length): the shortest proofs
	Context    []byte `json:"ctx"`          // of the application: domain separation
	NonceSize  int    `json:"nonce_size"`
	VerifySize int    `json:"verify_key_size"`
}

// Task sums the reports of one policy. It is immutable and safe for concurrent use.
type Task struct {
	policy     policy.Policy
	parameters Parameters
	vdaf       *histogram.Histogram
}

// NewTask returns the task of a policy. context separates it from other uses: nil is "wpm-dap-1 " and the policy's ID; in
// DAP it is the version of the protocol and the task's ID. Errors: ErrPolicy.
func NewTask(p policy.Policy, context []byte) (*Task, error) {
	if p.IsZero() {
		return nil, ErrPolicy
	}
	if context == nil {
		id := p.ID()
		context = append([]byte("wpm-dap-1 "), id[:]...)
	}
	n := p.Outputs()
	chunk := int(math.Ceil(math.Sqrt(float64(n))))
	v, err := histogram.New(2, uint(n), uint(chunk), slices.Clone(context))
	if err != nil {
		return nil, fmt.Errorf("dap: %w", err)
	}
	return &Task{policy: p, vdaf: v, parameters: Parameters{VDAF: "Prio3Histogram", Shares: 2, Length: n, Chunk: chunk,
		Context: slices.Clone(context), NonceSize: len(histogram.Nonce{}), VerifySize: len(histogram.VerifyKey{})}}, nil
}

// Parameters returns what the servers must be told.
func (t *Task) Parameters() Parameters {
	p := t.parameters
	p.Context = slices.Clone(p.Context)
	return p
}

// Upload is what a client sends: all but the helper's share to the leader, and all but the leader's to the helper. In DAP
// the shares are encrypted to each server.
type Upload struct {
	Nonce  histogram.Nonce
	Public []byte
	Shares [2][]byte // of the leader and of the helper
}

// Bytes is how much a client sends.
func (u Upload) Bytes() int {
	return len(u.Nonce) + len(u.Public) + len(u.Shares[0]) + len(u.Shares[1])
}

// Shard cuts a report into shares, at random. The report has been released, and paid for. Errors: ErrReport, and that of the
// random source.
func (t *Task) Shard(r policy.Report) (Upload, error) {
	if err := t.policy.Belongs(r); err != nil {
		return Upload{}, fmt.Errorf("%w: %w", ErrReport, err)
	}
	var u Upload
	params := t.vdaf.Params()
	random := make([]byte, params.RandSize())
	for _, b := range [][]byte{u.Nonce[:], random} {
		if _, err := io.ReadFull(rand.Reader, b); err != nil {
			return Upload{}, err
		}
	}
	public, shares, err := t.vdaf.Shard(uint64(r.Index()), &u.Nonce, random)
	if err != nil {
		return Upload{}, fmt.Errorf("dap: %w", err)
	}
	if u.Public, err = public.MarshalBinary(); err != nil {
		return Upload{}, fmt.Errorf("dap: %w", err)
	}
	for i := range shares {
		if u.Shares[i], err = shares[i].MarshalBinary(); err != nil {
			return Upload{}, fmt.Errorf("dap: %w", err)
		}
	}
	return u, nil
}

// Aggregator is one of the two servers of a task. It is not safe for concurrent use.
type Aggregator struct {
	task    *Task
	id      uint8
	key     histogram.VerifyKey
	sum     histogram.AggShare
	seen    map[histogram.Nonce]bool
	added   uint64
	refused uint64
}

// NewAggregator returns the leader or the helper. The key is secret from clients, the same for both, and random.
func (t *Task) NewAggregator(server int, key histogram.VerifyKey) (*Aggregator, error) {
	if server != Leader && server != Helper {
		return nil, fmt.Errorf("dap: server %d, want %d or %d", server, Leader, Helper)
	}
	return &Aggregator{task: t, id: uint8(server), key: key, sum: t.vdaf.AggregateInit(),
		seen: map[histogram.Nonce]bool{}}, nil
}

// Prepared is an upload on its way, at one server.
type Prepared struct {
	Message []byte // to the leader
	state   *histogram.PrepState
}

// Prepare reads the share of this server, and returns what it sends to the leader. Errors: ErrUpload, ErrReplay. The
// caller refuses the upload at both servers (Refuse).
func (a *Aggregator) Prepare(nonce histogram.Nonce, public, share []byte) (*Prepared, error) {
	if a.seen[nonce] {
		return nil, ErrReplay
	}
	a.seen[nonce] = true
	params := a.task.vdaf.Params()
	p, in := new(histogram.PublicShare).New(&params), new(histogram.InputShare).New(&params, uint(a.id))
	// what reads back otherwise is longer or shorter than it should be
	if err := p.UnmarshalBinary(public); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUpload, err)
	}
	if err := in.UnmarshalBinary(share); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUpload, err)
	}
	if back, err := in.MarshalBinary(); err != nil || !bytes.Equal(back, share) {
		return nil, fmt.Errorf("%w: its share is not canonical", ErrUpload)
	}
	state, message, err := a.task.vdaf.PrepInit(&a.key, &nonce, a.id, *p, *in)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUpload, err)
	}
	text, err := message.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUpload, err)
	}
	return &Prepared{Message: text, state: state}, nil
}

// Combine decides, at the leader, whether the upload is one output, and returns what goes back to both. Errors: ErrUpload.
func (t *Task) Combine(leader, helper []byte) ([]byte, error) {
	params := t.vdaf.Params()
	shares := make([]histogram.PrepShare, 2)
	for i, text := range [][]byte{leader, helper} {
		s := new(histogram.PrepShare).New(&params)
		if err := s.UnmarshalBinary(text); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUpload, err)
		}
		shares[i] = *s
	}
	message, err := t.vdaf.PrepSharesToPrep(shares)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUpload, err)
	}
	return message.MarshalBinary()
}

// Finish adds the share, when the leader's message is that both servers agree. Errors: ErrUpload.
func (a *Aggregator) Finish(p *Prepared, message []byte) error {
	out, err := a.open(p, message)
	if err == nil {
		a.add(out)
	}
	return err
}

func (a *Aggregator) open(p *Prepared, message []byte) (*histogram.OutShare, error) {
	params := a.task.vdaf.Params()
	m := new(histogram.PrepMessage).New(&params)
	if err := m.UnmarshalBinary(message); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUpload, err)
	}
	out, err := a.task.vdaf.PrepNext(p.state, m)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUpload, err)
	}
	return out, nil
}

func (a *Aggregator) add(out *histogram.OutShare) {
	a.task.vdaf.AggregateUpdate(&a.sum, out)
	a.added++
}

// Refuse counts an upload that either server refused.
func (a *Aggregator) Refuse() { a.refused++ }

// Share is what a server hands to the collector: the sum of its shares, and how many there are.
type Share struct {
	Sum            []byte
	Added, Refused uint64
}

// Share returns the sum so far.
func (a *Aggregator) Share() (Share, error) {
	sum, err := a.sum.MarshalBinary()
	return Share{Sum: sum, Added: a.added, Refused: a.refused}, err
}

// Aggregate takes an upload through both servers, in one process: for tests and demonstrations. An upload that is refused is
// counted at both. Errors: ErrUpload, ErrReplay.
func Aggregate(leader, helper *Aggregator, u Upload) error {
	err := aggregateOne(leader, helper, u)
	if err != nil {
		leader.Refuse()
		helper.Refuse()
	}
	return err
}

func aggregateOne(leader, helper *Aggregator, u Upload) error {
	l, err := leader.Prepare(u.Nonce, u.Public, u.Shares[Leader])
	if err != nil {
		return err
	}
	h, err := helper.Prepare(u.Nonce, u.Public, u.Shares[Helper])
	if err != nil {
		return err
	}
	message, err := leader.task.Combine(l.Message, h.Message)
	if err != nil {
		return err
	}
	// Neither adds before both can.
	a, err := leader.open(l, message)
	if err != nil {
		return err
	}
	b, err := helper.open(h, message)
	if err != nil {
		return err
	}
	leader.add(a)
	helper.add(b)
	return nil
}

// Counts adds the shares of the two servers: partial counts (docs/spec/counts.md) of one shard of that name, whose hash and
// bytes are those of the two sums, one after the other. Refused uploads are malformed lines. Reports of an output that
// the policy never releases, which no server can see, are refused here. Errors: ErrResult, and those of Counts.Encode.
func (t *Task) Counts(leader, helper Share, epoch, shard string) (aggregate.Counts, error) {
	if leader.Added != helper.Added || leader.Refused != helper.Refused {
		return aggregate.Counts{}, fmt.Errorf("%w: %d and %d were added, %d and %d refused", ErrResult, leader.Added,
			helper.Added, leader.Refused, helper.Refused)
	}
	params := t.vdaf.Params()
	sums := make([]histogram.AggShare, 2)
	for i, s := range []Share{leader, helper} {
		a := new(histogram.AggShare).New(&params)
		if err := a.UnmarshalBinary(s.Sum); err != nil {
			return aggregate.Counts{}, fmt.Errorf("%w: %w", ErrResult, err)
		}
		sums[i] = *a
	}
	found, err := t.vdaf.Unshard(sums, uint(leader.Added))
	if err != nil {
		return aggregate.Counts{}, fmt.Errorf("%w: %w", ErrResult, err)
	}
	c := aggregate.Counts{Policy: t.policy.ID(), Epoch: epoch, Reports: *found, Lines: leader.Added + leader.Refused}
	c.Refused[aggregate.Malformed] = leader.Refused
	box, total := t.policy.Polytope(), uint64(0)
	for j, n := range c.Reports {
		if n > leader.Added {
			return aggregate.Counts{}, fmt.Errorf("%w: output %d has %d reports of %d", ErrResult, j, n, leader.Added)
		}
		total += n
		if box.Hi(j) == 0 {
			c.Refused[aggregate.NeverReleased] += n
			c.Reports[j] = 0
		}
	}
	if total != leader.Added {
		return aggregate.Counts{}, fmt.Errorf("%w: %d reports in the sum, %d were added", ErrResult, total, leader.Added)
	}
	stored := slices.Concat(leader.Sum, helper.Sum)
	c.Shards = []aggregate.Shard{{ID: shard, SHA256: sha256.Sum256(stored), Bytes: uint64(len(stored)), Lines: c.Lines}}
	_, err = c.Encode()
	return c, err
}
