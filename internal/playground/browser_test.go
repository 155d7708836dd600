package playground

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wpm-go/wpm/internal/playground/engine"
)

var screenshots = flag.Bool("screenshots", false, "write the screenshots of docs/figures")

// writePage builds the page and writes it to a file, and returns its address.
func writePage(t testing.TB, r *Results) (url string, page []byte) {
	t.Helper()
	p, err := Find(context.Background(), ".", nil)
	if err != nil {
		t.Fatal(err)
	}
	if page, err = Page(p, r); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(path, page, 0o600); err != nil {
		t.Fatal(err)
	}
	return "file://" + path, page
}

// settled waits for the estimate and the proof of the settings that the page shows.
const settled = `document.documentElement.dataset.settled === 'true'`

// slide moves a slider, as a drag does.
func (b *browser) slide(id, value string) {
	b.t.Helper()
	b.eval(nil, `(() => { const e = document.getElementById(%q); e.value = %q; e.dispatchEvent(new Event('input', {bubbles: true})); })()`, id, value)
}

// drop gives files to the page, as a drop does: names and contents by turns.
func (b *browser) drop(files ...string) {
	b.t.Helper()
	text, err := json.Marshal(files)
	if err != nil {
		b.t.Fatal(err)
	}
	b.eval(nil, `(() => { const data = new DataTransfer(), files = %s;
		for (let i = 0; i < files.length; i += 2) data.items.add(new File([files[i + 1]], files[i], {type: 'text/csv'}));
		document.body.dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true})); })()`, text)
}

// TestBrowser uses the page as a visitor does, from a file, without a network: what is written is what is tested.
func TestBrowser(t *testing.T) {
	b := chromium(t)
	url, page := writePage(t, nil)
	t.Logf("%d bytes", len(page))
	b.size(1200, 900, "light")
	b.open(url)
	b.until(settled)

	for _, look := range []struct {
		name string
		at   func(*testing.T, *browser)
	}{
		{"numbers", lookNumbers},
		{"break", lookBreak},
		{"places", lookPlaces},
		{"keyboard", lookKeyboard},
		{"stale", lookStale},
		{"narrow and dark", lookNarrowDark},
		{"own places", lookOwnPlaces},
		{"address", lookAddress},
		{"months", lookMonths},
		{"rules", lookRules},
	} {
		t.Run(look.name, func(t *testing.T) { look.at(t, b.of(t)) })
	}
}

// asker returns an engine in Go: what WebAssembly computes is what anybody computes.
func asker(t *testing.T) func(engine.Request) engine.Answer {
	t.Helper()
	var e engine.Engine
	return func(q engine.Request) engine.Answer {
		t.Helper()
		line, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		a := e.Answer(context.Background(), line)
		if a.Error != "" {
			t.Fatal(a.Error)
		}
		return a
	}
}

// caption is what is written under a map.
func (b *browser) caption(name string) (text string) {
	b.t.Helper()
	b.eval(&text, "document.querySelector('[data-map=%s] figcaption > span').textContent", name)
	return text
}

func lookNumbers(t *testing.T, b *browser) {
	ask := asker(t)
	for _, eps := range []string{"4", "2.3"} {
		b.slide("eps", eps)
		b.until(settled)
		common := engine.Request{Eps: eps, People: 500, Seed: 1}
		for name, do := range map[string]string{"raw": engine.Raw, "estimate": engine.Estimate, "oue": engine.OUE} {
			q := common
			q.Do = do
			m := ask(q).Map
			want := fmt.Sprintf("%.2f cells from the truth; a guess: %.2f cells.", m.W1, m.Guess)
			if got := b.caption(name); got != want {
				t.Errorf("eps %s: the page says of %s: %s; Go: %s", eps, name, got, want)
			}
			var title string
			b.eval(&title, "document.querySelector('[data-map=%s] figcaption > small').textContent", name)
			if !strings.HasSuffix(title, m.Reading) { // of the rival alone, so that no title claims another reading
				t.Errorf("eps %s: the title of %s is %q, and its reports are %s", eps, name, title, m.Reading)
			}
		}
		q := common
		q.Do = engine.Prove
		p := ask(q).Proof
		for id, want := range map[string]string{"high": p.High, "low": p.Low, "ratio": p.Ratio, "bound": p.Bound,
			"worst": fmt.Sprintf("%.2f cells", p.Worst), "lower": fmt.Sprintf("%.2f cells", p.Lower)} {
			if got := b.text(id); got != want {
				t.Errorf("eps %s: %s is %q, want %q", eps, id, got, want)
			}
		}
		level, err := strconv.ParseFloat(eps, 64)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := b.text("evenOut"), fmt.Sprintf("%.1f %%", 100/(1+math.Exp(-level))); got != want {
			t.Errorf("eps %s: an attacker is %s sure, want %s", eps, got, want)
		}
	}
}

func lookBreak(t *testing.T, b *browser) {
	high := b.text("high")
	b.click("break", 0.5, 0.5)
	b.until("document.getElementById('verdict').classList.contains('bad')")
	if got := b.text("verdict"); !strings.HasPrefix(got, "Refused") || b.text("high") == high {
		t.Errorf("%s: %s after %s", got, b.text("high"), high)
	}
	b.click("break", 0.5, 0.5) // it mends, now
	b.until("document.getElementById('verdict').classList.contains('good')")
	if got := b.text("high"); got != high {
		t.Errorf("mended to %s, want %s", got, high)
	}
	b.click("break", 0.5, 0.5)
	b.until("document.getElementById('verdict').classList.contains('bad')")
	b.slide("eps", "4")
	b.until(settled + " && document.getElementById('verdict').classList.contains('good')")
}

func lookPlaces(t *testing.T, b *browser) {
	b.eval(nil, "window.heard = []; document.addEventListener('wpm', ({detail}) => heard.push(detail.phase))")
	b.click("clear", 0.5, 0.5)
	b.until("document.getElementById('mine').textContent.startsWith('No place')")
	b.click("me", 0.025, 0.975) // the cell in the south-west
	b.until("document.getElementById('mine').textContent === 'My places: r0c0 (100 %)'")
	b.until("document.getElementById('cloudW1').textContent.startsWith('My cloud')")
	b.click("draw", 0.5, 0.5)
	b.until("/^Simulation: r[0-9]+c[0-9]+$/.test(document.getElementById('drawn').textContent)")
	b.click("sample", 0.5, 0.5)
	b.until("document.getElementById('mine').textContent.includes('), r')")
	b.until(settled + " && !document.getElementById('break').disabled")
	// My places are nothing to the others: their maps and the certificate stay as they are.
	var heard []string
	b.eval(&heard, "[...new Set(heard)].sort()")
	if !slices.Equal(heard, []string{"design", "draw", "moving", "rest"}) {
		t.Errorf("other places of mine: %q", heard)
	}
}

func lookKeyboard(t *testing.T, b *browser) {
	b.eval(nil, "document.getElementById('clear').focus()")
	b.key("Enter")
	b.until("document.getElementById('mine').textContent.startsWith('No place')")
	b.eval(nil, "document.getElementById('people').focus()")
	b.key("Tab")
	b.until("document.activeElement.id === 'me'")
	b.key("ArrowRight")
	b.key("ArrowUp")
	b.key("Enter")
	b.key("Enter")
	b.key("ArrowLeft")
	b.key("Enter")
	// The cursor begins at the place of the last click.
	b.until("/^My places: r1c1 \\(67 %\\), r1c0 \\(33 %\\)$/.test(document.getElementById('mine').textContent)")
	b.key("Delete")
	b.until("document.getElementById('mine').textContent === 'My places: r1c1 (100 %)'")
	b.eval(nil, "document.getElementById('eps').focus()")
	b.key("ArrowRight")
	b.until("document.getElementById('epsOut').textContent === '4.1'")
	var spoken string
	b.eval(&spoken, "document.getElementById('people').getAttribute('aria-valuetext')")
	if spoken != "500 people" { // and not the position of the slider
		t.Errorf("the number of people is read as %q", spoken)
	}
	b.slide("eps", "4")
	b.until(settled)
}

func lookStale(t *testing.T, b *browser) {
	// While the slider moves, answers to what it has left are not shown after those to where it is.
	var seen []struct {
		Phase string
		Eps   string
		Shown string
	}
	b.eval(&seen, `new Promise((done) => { const seen = []; const e = document.getElementById('eps');
			const hear = ({detail}) => { seen.push({phase: detail.phase, eps: detail.eps, shown: document.getElementById('epsOut').textContent});
				if (['prove', 'estimate', 'raw'].every((w) => seen.some((s) => s.phase === w && s.eps === '4.9'))) { document.removeEventListener('wpm', hear); done(seen); } };
			document.addEventListener('wpm', hear);
			let n = 0; const move = () => { e.value = 1 + n / 10; e.dispatchEvent(new Event('input', {bubbles: true})); if (++n < 40) setTimeout(move, 15); }; move(); })`)
	answers := 0
	for _, s := range seen {
		if s.Eps != s.Shown {
			t.Errorf("at %s an answer to %s (%s)", s.Shown, s.Eps, s.Phase)
		}
		if s.Phase == "raw" {
			answers++
		}
	}
	if answers == 0 || answers > 40 {
		t.Errorf("%d of 40 pictures were complete", answers)
	}
	b.until(settled)
}

func lookNarrowDark(t *testing.T, b *browser) {
	var background [2]string
	for n, scheme := range []string{"light", "dark"} {
		b.size(390, 844, scheme)
		var wide [2]float64
		b.eval(&wide, "[document.documentElement.scrollWidth, innerWidth]")
		if wide[0] > wide[1] {
			t.Errorf("the page is %v wide in %v", wide[0], wide[1])
		}
		b.eval(&background[n], "getComputedStyle(document.body).backgroundColor")
		var small []string
		b.eval(&small, `[...document.querySelectorAll('button, input')].filter((e) => e.offsetParent && e.getBoundingClientRect().right > innerWidth).map((e) => e.id)`)
		if len(small) > 0 {
			t.Errorf("beyond the edge: %q", small)
		}
	}
	if background[0] == background[1] {
		t.Errorf("dark is %s, as is light", background[0])
	}
	b.size(1200, 900, "light")
}

func lookOwnPlaces(t *testing.T, b *browser) {
	const trap = `<img src=x onerror=alert(1)>`
	points := "label,lat,lon\nWien,48.21,16.37\nBerlin,52.52,13.40\n\"" + trap + "\",48.86,2.35\nRoma,41.90,12.50\n"
	for _, tt := range []struct{ name, file, says string }{
		{"points.csv", "label,x,y\na,0,0\nb,one,1\n", "points:3"},
		{"counts.csv", "label,count\nr0c0,1\nnowhere,1\n", "counts:3"},
		{"empty.csv", " \n", "is empty"},
		{"large.csv", strings.Repeat("x", 5<<20+1), "more than 5 MB"},
		{"points.csv", "label,x,y\n" + strings.Repeat("p,0,0\n", 2), "points:3"},
	} {
		b.drop(tt.name, tt.file)
		b.until(fmt.Sprintf("document.getElementById('fileStatus').textContent.includes(%q)", tt.says))
	}
	b.drop("counts.csv", "user,label,count\nu,Wien,3\nu,Roma,1\nv,Berlin,2\n", "points.csv", points)
	b.until("document.getElementById('fileStatus').textContent.startsWith('4 places, 2 users')")
	b.until(settled)
	b.until("document.getElementById('mine').textContent.includes('%')")
	if got := b.text("worst"); !strings.HasSuffix(got, " km") {
		t.Errorf("the worst case is %s", got)
	}
	b.eval(nil, "document.getElementById('clear').click()")
	b.click("me", 0.02, 0.4) // the label that is no markup
	b.until("document.getElementById('mine').textContent.startsWith('My places: <img')")
	var left struct {
		Images, Stored int
		Address        string
	}
	b.eval(&left, `(() => { let stored = 0; try { stored = localStorage.length + sessionStorage.length; } catch {}
			return {images: document.images.length, stored, address: location.search + location.hash}; })()`)
	if left.Images != 0 || left.Stored != 0 || !strings.HasPrefix(left.Address, "#eps=") ||
		strings.ContainsAny(left.Address, "W<%") {
		t.Errorf("what is left of a file: %+v", left)
	}
	// Numbers that a reader can do something with: metres, thousands of kilometres, and everybody at one place.
	for _, tt := range []struct{ points, counts, says string }{
		{"label,lat,lon\na,48.20001,16.3\nb,48.2,16.30002\n", "label,count\na,1\n", "A guess is 0.00093 km away."},
		{"label,lat,lon\nN,90,0\nS,-90,0\n", "label,count\nN,1\n", "A guess is 10,000 km away."},
	} {
		b.drop("points.csv", tt.points, "counts.csv", tt.counts)
		b.until(fmt.Sprintf("document.querySelector('[data-map=truth] figcaption > span').textContent === %q", tt.says))
		b.until(settled)
		if got := b.text("top"); got != "100 %." {
			t.Errorf("the scale ends at %q", got)
		}
	}
	// A file that is refused while another is being read: both workers have the other.
	b.drop("points.csv", points)
	b.drop("points.csv", "label,x,y\nonly,0,0\n")
	b.until("document.getElementById('fileStatus').textContent === 'points: 1 places, want 2 to 2000'")
	for _, eps := range []string{"5", "3"} { // the second ends the estimate of the first, and its worker
		b.slide("eps", eps)
		b.until("document.documentElement.dataset.phase === 'rest' || " + settled)
	}
	b.until(settled)
	ask := asker(t)
	ask(engine.Request{Do: engine.World, Points: points})
	m := ask(engine.Request{Do: engine.Estimate, Eps: "3", People: 500, Seed: 1}).Map
	if got, want := b.caption("estimate"),
		fmt.Sprintf(" km from the truth; a guess: %.0f km.", m.Guess); !strings.HasSuffix(got, want) {
		t.Errorf("the estimate is %q, want%q", got, want)
	}
	b.slide("eps", "4")
	b.eval(nil, "document.getElementById('city').click()")
	b.until("document.getElementById('fileStatus').textContent.startsWith('The made-up city')")
	b.until(settled)
}

func lookAddress(t *testing.T, b *browser) {
	b.eval(nil, "location.hash = '#eps=2&people=1000&seed=5'")
	b.until("document.getElementById('epsOut').textContent === '2' && document.getElementById('peopleNumber').value === '1000'")
	b.until(settled)
	b.eval(nil, "location.hash = '#eps=1e9&people=Infinity&seed=-1&more=x'")
	b.until(settled + " && location.hash === '#eps=2&people=1000&seed=5'")
}

// lookMonths: any number of people is taken as it is, and with a slot in a year a twelfth of them makes a month's map.
func lookMonths(t *testing.T, b *browser) {
	b.eval(nil, "location.hash = '#eps=2&people=800&months=12&seed=1'")
	b.until("document.getElementById('count').textContent === '67 people'")
	b.until(settled)
	if n, months := b.value("peopleNumber"), b.value("months"); n != "800" || months != "12" {
		t.Errorf("%s people, a month of %s", n, months)
	}
	ask := asker(t)
	m := ask(engine.Request{Do: engine.Raw, Eps: "2", People: 67, Seed: 1}).Map
	if got, want := b.caption("raw"), fmt.Sprintf("%.2f cells", m.W1); !strings.HasPrefix(got, want) {
		t.Errorf("the releases of a month: %q, want %s", got, want)
	}
	sum := ask(engine.Request{Do: engine.Sum, Eps: "2", People: 67}).Sum
	for id, want := range map[string]string{
		"yearOut": "one release, ε = 2: sure to 50 % before, at most 88.1 % after", // e^2/(1+e^2) = .8808
		"sumOut":  fmt.Sprintf("ε = %.2f", sum.Epsilon), "monthOut": "67 of the 800",
	} {
		if got := b.text(id); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
	b.eval(nil, "{ const e = document.getElementById('months'); e.value = '1'; e.dispatchEvent(new Event('change', {bubbles: true})); }")
	b.until("document.getElementById('count').textContent === '800 people'")
	if got, want := b.text("yearOut"), "12 releases, together ε = 24: sure to 50 % before, next to certain after"; !strings.HasPrefix(
		got, want) {
		t.Errorf("a year: %q, want %q", got, want)
	}
	b.eval(nil, "location.hash = '#eps=4&people=500&seed=1'")
	b.until(settled + " && document.getElementById('count').textContent === '500 people'")
}

func lookRules(t *testing.T, b *browser) {
	if list := b.complaints(); len(list) > 0 {
		t.Errorf("the browser complains: %s", strings.Join(list, "\n"))
	}
	for _, address := range b.requests() {
		if !strings.HasPrefix(address, "file://") && !strings.HasPrefix(address, "blob:") && address != "about:blank" {
			t.Errorf("the page asked for %s", address)
		}
	}
	// A listener that would hear the page if it could speak.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var refused []bool
	b.eval(&refused, `Promise.all([
			fetch('http://%[1]s/').then(() => false, () => true),
			new Promise((done) => { const i = new Image(); i.onload = () => done(false); i.onerror = () => done(true); i.src = 'http://%[1]s/'; }),
			new Promise((done) => { const s = document.createElement('script'); s.textContent = 'window.hacked = 1'; document.head.append(s); done(!window.hacked); }),
			new Promise((done) => { try { new WebSocket('ws://%[1]s/').onerror = () => done(true); } catch { done(true); } }),
			new Promise((done) => { try { (0, eval)('1'); done(false); } catch { done(true); } })])`, l.Addr())
	if slices.Contains(refused, false) {
		t.Errorf("the rules let through: fetch, image, script, socket, eval refused %v", refused)
	}
	_ = l.(*net.TCPListener).SetDeadline(time.Now().Add(100 * time.Millisecond))
	if c, err := l.Accept(); err == nil {
		c.Close()
		t.Error("the page reached a server")
	}
}

// of is the same browser for a subtest.
func (b *browser) of(t *testing.T) *browser {
	return &browser{wire: b.wire, t: t}
}

// TestBrowserDemo opens the page with the results of a demo inside.
func TestBrowserDemo(t *testing.T) {
	b := chromium(t)
	r := &Results{Settings: Settings{Epsilon: "3", People: 200, Seed: 2}, Sentence: "From <b>200</b> releases.", Rows: 2,
		Cols: 2,
		Maps: []Map{{Title: "The truth", Note: "a note", Shares: []float64{0.5, 0.25, 0.25, 0}}}}
	url, _ := writePage(t, r)
	b.size(1200, 900, "light")
	b.open(url)
	b.until(settled)
	if b.text("epsOut") != "3" || b.value("peopleNumber") != "200" || b.text("sentence") != r.Sentence {
		t.Errorf("eps %s, people %s, sentence %q", b.text("epsOut"), b.value("peopleNumber"), b.text("sentence"))
	}
	var maps int
	b.eval(&maps, "document.querySelectorAll('#demoMaps canvas').length")
	if maps != 1 {
		t.Errorf("%d maps of the demo", maps)
	}
	if list := b.complaints(); len(list) > 0 {
		t.Errorf("the browser complains: %s", strings.Join(list, "\n"))
	}
}

// TestScreenshots draws the pictures of docs/playground.md; with -screenshots it writes them.
func TestScreenshots(t *testing.T) {
	b := chromium(t)
	url, _ := writePage(t, nil)
	for _, shot := range []struct {
		name          string
		width, height int
	}{{"playground-1200.png", 1200, 900}, {"playground-390.png", 390, 844}} {
		b.size(shot.width, shot.height, "light")
		b.open(url)
		b.until(settled)
		small := quantize(t, b.picture(), shot.height)
		const most = 150_000
		if len(small) > most {
			t.Errorf("%s: %d bytes, at most %d", shot.name, len(small), most)
		}
		if *screenshots {
			if err := os.WriteFile(filepath.Join("../../docs/figures", shot.name), small, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// quantize cuts a picture at a height and brings it to its 256 most frequent colours.
func quantize(t *testing.T, data []byte, height int) []byte {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	frame := img.Bounds()
	frame.Max.Y = min(frame.Max.Y, frame.Min.Y+height)
	count := map[color.RGBA]int{}
	for y := frame.Min.Y; y < frame.Max.Y; y++ {
		for x := frame.Min.X; x < frame.Max.X; x++ {
			c := color.RGBAModel.Convert(img.At(x, y)).(color.RGBA)
			c.R, c.G, c.B = c.R&^3, c.G&^3, c.B&^3
			count[c]++
		}
	}
	all := make([]color.RGBA, 0, len(count))
	for c := range count {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b color.RGBA) int {
		if count[a] != count[b] {
			return count[b] - count[a]
		}
		return int(a.R)<<16 + int(a.G)<<8 + int(a.B) - int(b.R)<<16 - int(b.G)<<8 - int(b.B)
	})
	palette := make(color.Palette, 0, 256)
	for _, c := range all[:min(256, len(all))] {
		c.R, c.G, c.B = c.R|c.R>>6, c.G|c.G>>6, c.B|c.B>>6
		palette = append(palette, c)
	}
	out := image.NewPaletted(frame, palette)
	draw.Draw(out, frame, img, frame.Min, draw.Src)
	var b bytes.Buffer
	e := png.Encoder{CompressionLevel: png.BestCompression}
	if err := e.Encode(&b, out); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
