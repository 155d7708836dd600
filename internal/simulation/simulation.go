// Package simulation draws the reports of many devices in one process, for planning and for tests of load.
//
// # What is simulated
//
// Every device has a distribution over the inputs of a policy, and draws one output from what policy.Release would draw
// from: in mixture mode the row of an input that it draws from its distribution, in projection mode the projection of
// that distribution, rounded into the box. There is no ledger, no process for the solver and no limit of work.
//
// A simulation keeps nothing private: whoever knows the seed can repeat every draw. Its reports are those of the policy
// and can be counted like others, so a file of them starts with a mark: see reports.Mark.
//
// # Cost
//
// All cores work, in memory for the users and some blocks of reports, whatever the number of devices. Mixture takes
// O(kv) for a device, and less where the policy has a geometry and too many rows to keep (package internal/discs). A
// projection takes its solver. Equal Configs give equal bytes at any GOMAXPROCS, and fewer devices the
// first lines of more.
package simulation

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/aggregate/reports"
	"github.com/wpm-go/wpm/internal/discs"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

// ErrConfig says that a field of a Config means nothing.
var ErrConfig = errors.New("simulation: bad configuration")

// MaxCount is the largest count that a device without a user has of a place: they are uniform from 1 to this.
const MaxCount = 10

// User is a distribution over inputs: counts, finite and > 0, of inputs that ascend.
type User struct {
	Inputs []int
	Counts []float64
}

// Config says what to simulate.
type Config struct {
	Policy  policy.Policy
	Devices int    // >= 1
	Users   []User // device d has the distribution of user d modulo their number
	// To are users that devices become, Moved of them: device d that of number d, modulo their number. Who has moved stays
	// moved when Moved grows.
	To    []User
	Moved float64 // 0 to 1
	// Period, if not 0, is the number of slots, of which each device has one; those of Slot report.
	Period, Slot int
	Atoms        int // without Users: how many places a device has, 1 to the inputs of the policy, drawn uniformly
	Seed         uint64
	// Progress, if not nil, is called with the number of devices that are done.
	Progress func(done int)
}

// In returns c for the devices that report in an epoch, such as 2026-03, of a policy with a period. Errors: ErrConfig,
// and those of ledger.Schedule.Number.
func (c Config) In(epoch string) (Config, error) {
	s := c.Policy.Schedule()
	if s.Period == 0 {
		return c, fmt.Errorf("%w: the policy has no period, so that every device reports in every epoch", ErrConfig)
	}
	t, err := s.Number(epoch)
	if err == nil {
		c.Period, c.Slot = s.Period, t%s.Period
	}
	return c, err
}

func (c Config) check() error {
	k := c.Policy.Inputs()
	switch {
	case c.Policy.IsZero():
		return fmt.Errorf("%w: %w", ErrConfig, policy.ErrPolicy)
	case c.Devices < 1:
		return fmt.Errorf("%w: %d devices", ErrConfig, c.Devices)
	case !(c.Moved >= 0 && c.Moved <= 1) || c.Moved > 0 && len(c.To) == 0:
		return fmt.Errorf("%w: %v of the devices move to %d users", ErrConfig, c.Moved, len(c.To))
	case c.Period < 0 || c.Slot < 0 || c.Period > 0 && c.Slot >= c.Period:
		return fmt.Errorf("%w: slot %d of %d", ErrConfig, c.Slot, c.Period)
	case len(c.Users) == 0 && (c.Atoms < 1 || c.Atoms > k):
		return fmt.Errorf("%w: %d places of a device, want 1 to %d", ErrConfig, c.Atoms, k)
	}
	for n, u := range slices.Concat(c.Users, c.To) {
		if len(u.Inputs) == 0 || len(u.Inputs) != len(u.Counts) {
			return fmt.Errorf("%w: user %d has %d inputs and %d counts", ErrConfig, n, len(u.Inputs), len(u.Counts))
		}
		last := -1
		for i, x := range u.Inputs {
			if x <= last || x >= k || !(u.Counts[i] > 0 && u.Counts[i] <= 1<<53) {
				return fmt.Errorf("%w: user %d has count %v of input %d after input %d", ErrConfig, n, u.Counts[i], x, last)
			}
			last = x
		}
	}
	return nil
}

// A block of devices has a stream of random numbers of its own. A batch of blocks is in memory at a time.
const (
	block = 64
	batch = 64
)

// keep is the most weights of rows that are kept from one device to the next: 64 MiB.
const keep = 1 << 23

// Run writes the mark and a report for each device, in text. The errors are ErrConfig, those of wpm.Load for a policy
// in projection mode, of the solver, of ctx, and of w.
func Run(ctx context.Context, c Config, w io.Writer) error {
	if err := c.check(); err != nil {
		return err
	}
	s := simulator{Config: c}
	if c.Policy.Mode() == policy.Projection {
		var err error
		if s.mechanism, err = wpm.Load(ctx, c.Policy, wpm.Options{}); err != nil {
			return err
		}
	}
	if k := c.Policy.Inputs(); s.mechanism == nil && k <= keep/c.Policy.Outputs() {
		s.rows = make([]atomic.Pointer[ldp.Weights], k)
	} else if s.mechanism == nil {
		s.discs = discs.Of(c.Policy)
	}
	id := c.Policy.ID()
	s.prefix = append([]byte("wpm1"), id[:]...)
	if _, err := w.Write(reports.Mark(id, c.Seed)); err != nil {
		return err
	}
	blocks := (c.Devices-1)/block + 1
	for first := 0; first < blocks; first += batch {
		texts := make([][]byte, min(batch, blocks-first))
		done := func(finished int) {
			if c.Progress != nil {
				c.Progress(min((first+finished)*block, c.Devices))
			}
		}
		err := parallel.Each(ctx, len(texts), func(i int) (err error) {
			texts[i], err = s.block(ctx, first+i)
			return err
		}, done)
		if err != nil {
			return err
		}
		for _, text := range texts {
			if _, err := w.Write(text); err != nil {
				return err
			}
		}
	}
	return nil
}

type simulator struct {
	Config
	mechanism *wpm.Mechanism                // in projection mode
	rows      []atomic.Pointer[ldp.Weights] // those that have been read, if there is room for all
	discs     *discs.Rows                   // where there is no room, and the policy has a geometry
	prefix    []byte                        // of every report, in bytes
}

// block simulates the devices of a block.
func (s *simulator) block(ctx context.Context, n int) (text []byte, err error) {
	source := rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "wpm simulation, seed %d, block %d", s.Seed, n)))
	random := rand.New(source)
	record := slices.Clone(s.prefix)
	for d := n * block; d < min(s.Devices, (n+1)*block); d++ {
		var u User
		if len(s.Users) > 0 {
			u = s.Users[d%len(s.Users)]
		} else {
			u = s.user(random)
		}
		if s.Period > 0 && fixed(d, 1)%uint64(s.Period) != uint64(s.Slot) {
			continue
		}
		if s.Moved > 0 && float64(fixed(d, 2)>>11)*0x1p-53 < s.Moved {
			u = s.To[d%len(s.To)]
		}
		j, err := s.draw(ctx, u, random, source)
		if err != nil {
			return nil, err
		}
		text = hex.AppendEncode(text, binary.LittleEndian.AppendUint32(record, uint32(j)))
		text = append(text, '\n')
	}
	return text, nil
}

// fixed is a number of a device for a purpose, the same in every simulation.
func fixed(device int, purpose uint64) uint64 {
	return rand.NewPCG(uint64(device), purpose).Uint64()
}

// user makes up a user: distinct places, by Floyd's algorithm.
func (s *simulator) user(random *rand.Rand) (u User) {
	k := s.Policy.Inputs()
	seen := make(map[int]bool, s.Atoms)
	for top := k - s.Atoms; top < k; top++ {
		i := random.IntN(top + 1)
		if seen[i] {
			i = top
		}
		seen[i] = true
		u.Inputs = append(u.Inputs, i)
		u.Counts = append(u.Counts, float64(1+random.IntN(MaxCount)))
	}
	slices.Sort(u.Inputs)
	return u
}

// draw returns the output of a device.
func (s *simulator) draw(ctx context.Context, u User, random *rand.Rand, source *rand.ChaCha8) (int, error) {
	if s.discs != nil {
		i := u.pick(random.Float64())
		if j, ok := s.discs.Draw(i, source.Uint64()); ok {
			return j, nil
		}
		w, err := s.Policy.Row(i)
		if err != nil {
			return 0, err
		}
		return w.Sample(source)
	}
	law, err := s.law(ctx, u, random)
	if err != nil {
		return 0, err
	}
	return law.Sample(source)
}

// law returns what a device draws from.
func (s *simulator) law(ctx context.Context, u User, random *rand.Rand) (ldp.Weights, error) {
	if s.mechanism != nil {
		p, err := s.mechanism.ProjectSparse(ctx, u.Inputs, u.Counts)
		if err != nil {
			return ldp.Weights{}, err
		}
		return p.Weights(), nil
	}
	i := u.pick(random.Float64())
	if s.rows == nil {
		return s.Policy.Row(i)
	}
	if w := s.rows[i].Load(); w != nil {
		return *w, nil
	}
	w, err := s.Policy.Row(i)
	if err == nil {
		s.rows[i].Store(&w)
	}
	return w, err
}

// pick returns the input that a uniform number from [0, 1) draws, up to roundings.
func (u User) pick(x float64) int {
	total := 0.0
	for _, n := range u.Counts {
		total += n
	}
	x *= total
	for i, n := range u.Counts {
		if x -= n; x < 0 {
			return u.Inputs[i]
		}
	}
	return u.Inputs[len(u.Inputs)-1]
}
