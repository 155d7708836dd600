package dap_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cloudflare/circl/vdaf/prio3/histogram"

	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/dap"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

// published returns a policy of so many outputs, the last of which is never released if never.
func published(t testing.TB, outputs int, never bool) policy.Policy {
	t.Helper()
	eps, err := ldp.ParseEpsilon("4")
	if err != nil {
		t.Fatal(err)
	}
	m := slices.Repeat([]float64{1 / float64(outputs)}, outputs)
	if never {
		m[outputs-1] = 0
		m[0] *= 2
	}
	box, err := ldp.NewPolytope(eps, m, 62)
	if err != nil {
		t.Fatal(err)
	}
	row, err := policy.NewRow(box, box.Round(m))
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(policy.Config{Polytope: box, Mode: policy.Mixture, Inputs: 1, Rows: []policy.Row{row},
		Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// report makes a report of an output, whether the policy releases it or not.
func report(t testing.TB, p policy.Policy, output int) policy.Report {
	t.Helper()
	id := p.ID()
	var r policy.Report
	if err := r.UnmarshalBinary(binary.LittleEndian.AppendUint32(append([]byte("wpm1"), id[:]...), uint32(output))); err != nil {
		t.Fatal(err)
	}
	return r
}

func servers(t testing.TB, p policy.Policy) (task *dap.Task, leader, helper *dap.Aggregator) {
	t.Helper()
	task, err1 := dap.NewTask(p, nil)
	var key histogram.VerifyKey
	_, err2 := rand.Read(key[:])
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	leader, err1 = task.NewAggregator(dap.Leader, key)
	helper, err2 = task.NewAggregator(dap.Helper, key)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	return task, leader, helper
}

func counts(t testing.TB, task *dap.Task, leader, helper *dap.Aggregator) aggregate.Counts {
	t.Helper()
	one, err1 := leader.Share()
	two, err2 := helper.Share()
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	c, err := task.Counts(one, two, "2026-11", "prio3")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestSum: what two servers add up is what the clients sent, as partial counts that aggregate reads and that belong to the
// policy; each share alone changes from one upload of a report to the next.
func TestSum(t *testing.T) {
	for _, outputs := range []int{1, 2, 3, 17, 100} {
		p := published(t, outputs, false)
		task, leader, helper := servers(t, p)
		want := make([]uint64, outputs)
		for i := range 2*outputs + 3 {
			r := report(t, p, i*i%outputs)
			want[r.Index()]++
			u, err := task.Shard(r)
			if err != nil {
				t.Fatal(err)
			}
			if v, err := task.Shard(r); err != nil || bytes.Equal(u.Shares[0], v.Shares[0]) || bytes.Equal(u.Shares[1], v.Shares[1]) {
				t.Fatalf("a share occurs twice (%v)", err)
			}
			if err := dap.Aggregate(leader, helper, u); err != nil {
				t.Fatal(err)
			}
		}
		c := counts(t, task, leader, helper)
		text, err := c.Encode()
		if err != nil {
			t.Fatal(err)
		}
		read, err := aggregate.DecodeCounts(text)
		if err != nil || !slices.Equal(read.Reports, want) || read.Total() != uint64(2*outputs+3) || read.AllRefused() != 0 {
			t.Errorf("%d outputs: %v (%v), want %v", outputs, read.Reports, err, want)
		}
		if err := read.Belongs(p); err != nil {
			t.Error(err)
		}
		one, _ := leader.Share()
		two, _ := helper.Share()
		if s := read.Shards; len(s) != 1 || s[0].SHA256 != sha256.Sum256(slices.Concat(one.Sum, two.Sum)) || s[0].Lines != read.Lines ||
			s[0].Bytes != uint64(len(one.Sum)+len(two.Sum)) {
			t.Errorf("shards %+v", s)
		}
	}
}

// TestRefused: an upload that was changed anywhere, in a share, the nonce or what is public, is refused and counted, and does
// not change the sum. So is one that comes twice.
func TestRefused(t *testing.T) {
	const outputs = 12
	p := published(t, outputs, false)
	task, leader, helper := servers(t, p)
	good, err := task.Shard(report(t, p, 5))
	if err != nil {
		t.Fatal(err)
	}
	if err := dap.Aggregate(leader, helper, good); err != nil {
		t.Fatal(err)
	}
	refused := uint64(0)
	refuse := func(name string, u dap.Upload, want error) {
		t.Helper()
		if err := dap.Aggregate(leader, helper, u); !errors.Is(err, want) || !errors.Is(err, dap.ErrUpload) {
			t.Errorf("%s: %v", name, err)
		}
		refused++
	}
	refuse("again", good, dap.ErrReplay)
	fresh := func() dap.Upload {
		u, err := task.Shard(report(t, p, 5))
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	for place := range outputs { // one more at a place: the field element is a little-endian integer
		u := fresh()
		for i := 16 * place; i < 16*place+16; i++ {
			if u.Shares[dap.Leader][i]++; u.Shares[dap.Leader][i] != 0 {
				break
			}
		}
		refuse(fmt.Sprintf("place %d, too", place), u, dap.ErrUpload)
	}
	for name, change := range map[string]func(*dap.Upload){
		"nonce":          func(u *dap.Upload) { u.Nonce[0] ^= 1 },
		"public":         func(u *dap.Upload) { u.Public[1] ^= 1 },
		"no public":      func(u *dap.Upload) { u.Public = nil },
		"helper's":       func(u *dap.Upload) { u.Shares[dap.Helper][2] ^= 4 },
		"no share":       func(u *dap.Upload) { u.Shares[dap.Helper] = nil },
		"shares swapped": func(u *dap.Upload) { u.Shares[0], u.Shares[1] = u.Shares[1], u.Shares[0] },
		"cut":            func(u *dap.Upload) { u.Shares[dap.Leader] = u.Shares[dap.Leader][:len(u.Shares[dap.Leader])-1] },
		"longer":         func(u *dap.Upload) { u.Shares[dap.Leader] = append(u.Shares[dap.Leader], 0) },
		"no element":     func(u *dap.Upload) { copy(u.Shares[dap.Leader], bytes.Repeat([]byte{255}, 16)) },
		"proof":          func(u *dap.Upload) { u.Shares[dap.Leader][16*outputs+3] ^= 1 },
	} {
		u := fresh()
		change(&u)
		refuse(name, u, dap.ErrUpload)
	}
	c := counts(t, task, leader, helper)
	if c.Total() != 1 || c.Reports[5] != 1 || c.Refused[aggregate.Malformed] != refused || c.Lines != 1+refused {
		t.Errorf("%+v, want 1 report and %d refused", c, refused)
	}
}

// TestNeverReleased: reports of an output that the policy never releases are in no histogram, and are counted.
func TestNeverReleased(t *testing.T) {
	p := published(t, 4, true)
	task, leader, helper := servers(t, p)
	if _, err := task.Shard(report(t, p, 3)); !errors.Is(err, dap.ErrReport) {
		t.Fatalf("a report that cannot be: %v", err)
	}
	// A client that does not use this package can send it.
	params := task.Parameters()
	vdaf, err := histogram.New(2, uint(params.Length), uint(params.Chunk), params.Context)
	if err != nil {
		t.Fatal(err)
	}
	var u dap.Upload
	inner := vdaf.Params()
	random := make([]byte, inner.RandSize())
	if _, err := rand.Read(random); err != nil {
		t.Fatal(err)
	}
	public, shares, err := vdaf.Shard(3, &u.Nonce, random)
	if err != nil {
		t.Fatal(err)
	}
	u.Public, _ = public.MarshalBinary()
	for i := range shares {
		u.Shares[i], _ = shares[i].MarshalBinary()
	}
	if err := dap.Aggregate(leader, helper, u); err != nil {
		t.Fatal(err)
	}
	c := counts(t, task, leader, helper)
	if c.Total() != 0 || c.Refused[aggregate.NeverReleased] != 1 || c.Belongs(p) != nil {
		t.Errorf("%+v", c)
	}
}

func TestErrors(t *testing.T) {
	p, other := published(t, 5, false), published(t, 6, false)
	if _, err := dap.NewTask(policy.Policy{}, nil); !errors.Is(err, dap.ErrPolicy) {
		t.Errorf("no policy: %v", err)
	}
	task, leader, helper := servers(t, p)
	if _, err := task.Shard(report(t, other, 1)); !errors.Is(err, dap.ErrReport) {
		t.Errorf("another policy: %v", err)
	}
	if _, err := task.Shard(policy.Report{}); !errors.Is(err, dap.ErrReport) {
		t.Errorf("no report: %v", err)
	}
	if _, err := task.NewAggregator(2, histogram.VerifyKey{}); err == nil {
		t.Error("a third server")
	}
	u, err := task.Shard(report(t, p, 1))
	if err != nil {
		t.Fatal(err)
	}
	if err := dap.Aggregate(leader, helper, u); err != nil {
		t.Fatal(err)
	}
	one, _ := leader.Share()
	two, _ := helper.Share()
	for name, change := range map[string]func(a, b *dap.Share){
		"one more":      func(a, _ *dap.Share) { a.Added++ },
		"both more":     func(a, b *dap.Share) { a.Added++; b.Added++ },
		"refused":       func(_, b *dap.Share) { b.Refused++ },
		"cut":           func(a, _ *dap.Share) { a.Sum = a.Sum[:7] },
		"a wrong share": func(a, _ *dap.Share) { a.Sum = slices.Clone(a.Sum); a.Sum[0] ^= 1 },
		"one twice":     func(a, b *dap.Share) { *a = *b },
	} {
		a, b := one, two
		change(&a, &b)
		if _, err := task.Counts(a, b, "", "x"); !errors.Is(err, dap.ErrResult) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := task.Counts(one, two, "no epoch", "x"); err == nil {
		t.Error("an epoch that is none")
	}
	if q := task.Parameters(); q.Length != 5 || q.Chunk != 3 || q.Shares != 2 || len(q.Context) != 42 {
		t.Errorf("%+v", q)
	}
	if same, err := dap.NewTask(p, []byte("dap-16")); err != nil || string(same.Parameters().Context) != "dap-16" {
		t.Errorf("another context: %v", err)
	}
}

// BenchmarkUpload: bytes and times of a report.
func BenchmarkUpload(b *testing.B) {
	for _, outputs := range []int{100, 400, 2000, 10000} {
		b.Run(fmt.Sprint(outputs), func(b *testing.B) {
			p := published(b, outputs, false)
			task, leader, helper := servers(b, p)
			r := report(b, p, outputs/2)
			var client, server time.Duration
			n := 0
			for b.Loop() {
				start := time.Now()
				u, err := task.Shard(r)
				if err != nil {
					b.Fatal(err)
				}
				client += time.Since(start)
				start = time.Now()
				if err := dap.Aggregate(leader, helper, u); err != nil {
					b.Fatal(err)
				}
				server += time.Since(start)
				if n++; n == 1 {
					b.ReportMetric(float64(u.Bytes()), "bytes/report")
				}
			}
			b.ReportMetric(client.Seconds()*1000/float64(n), "ms-client/report")
			b.ReportMetric(server.Seconds()*1000/float64(n), "ms-servers/report")
		})
	}
}
