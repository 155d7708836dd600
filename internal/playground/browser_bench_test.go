package playground

import (
	"slices"
	"testing"
)

// BenchmarkBrowser times the page at 200 people on 20 x 20 cells, after a warm-up: medians of 20 moves of the slider,
// in milliseconds. From a move to the first picture and to the complete one; from the last move to the certificate and
// to the estimate, which includes the 150 ms after which the slider counts as at rest; and the longest gap between
// timers of the main thread while the slider moved for three seconds.
func BenchmarkBrowser(b *testing.B) {
	c := chromium(b)
	url, _ := writePage(b, nil)
	c.size(1200, 900, "light")
	c.open(url + "#eps=4&people=200&seed=1")
	c.until(settled)
	const moves, warm = 20, 3
	times := map[string][]float64{}
	for b.Loop() {
		for n := range warm + moves {
			var took map[string]float64
			c.eval(&took, `new Promise((done) => { const took = {}, e = document.getElementById('eps');
				const hear = ({detail}) => { took[detail.phase] = performance.now() - start;
					if (took.prove && took.estimate) { document.removeEventListener('wpm', hear); done(took); } };
				document.addEventListener('wpm', hear);
				e.value = %f;
				const start = performance.now();
				e.dispatchEvent(new Event('input', {bubbles: true})); })`, 1+float64((n*7)%50)/10)
			for what, ms := range took {
				if n >= warm {
					times[what] = append(times[what], ms)
				}
			}
		}
	}
	var gap float64
	c.eval(&gap, `new Promise((done) => { let worst = 0, last = performance.now(); const begin = last, e = document.getElementById('eps'); let n = 0;
		const tick = () => { const now = performance.now(); worst = Math.max(worst, now - last); last = now;
			if (now - begin > 3000) { done(worst); return; }
			if (now - begin > 30 * n) { n++; e.value = 1 + (n %% 70) / 10; e.dispatchEvent(new Event('input', {bubbles: true})); }
			setTimeout(tick, 4); };
		tick(); })`)
	for what, unit := range map[string]string{"design": "ms/first", "raw": "ms/complete",
		"prove": "ms/certificate", "estimate": "ms/estimate"} {
		slices.Sort(times[what])
		b.ReportMetric(times[what][len(times[what])/2], unit)
	}
	b.ReportMetric(gap, "ms/gap")
	b.ReportMetric(0, "ns/op")
}
