'use strict';
(() => {
  const $ = (id) => document.getElementById(id);
  const sizes = [50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000]; // of N, by the slider
  const live = 200;          // people while a slider moves
  const restAfter = 150;     // ms without a change
  const maxBytes = 5 * 1024 * 1024;
  const say = (id, text) => { const e = $(id); if (e.textContent !== text) e.textContent = text; };

  // The address holds settings, and nothing else.
  const settings = { eps: '4', people: 500, months: 1, seed: 1 };
  const adopt = ({ eps, people, months, seed }) => { // what the page can show, and nothing else
    if (eps >= 0.5 && eps <= 8) settings.eps = String(Math.round(eps * 10) / 10);
    if (people >= 1 && people < Infinity) settings.people = Math.min(sizes.at(-1), Math.round(people));
    if ([...$('months').options].some((o) => o.value === String(months))) settings.months = months;
    if (Number.isInteger(seed) && seed >= 0 && seed < 1e9) settings.seed = seed;
  };
  const results = JSON.parse($('results').textContent);
  if (results) adopt({ ...results.settings, eps: Number(results.settings.eps) });
  const fromAddress = () => {
    const q = new URLSearchParams(location.hash.slice(1)), number = (name) => parseFloat(q.get(name));
    adopt(Object.fromEntries(['eps', 'people', 'months', 'seed'].map((name) => [name, number(name)])));
  };
  fromAddress();
  // reports are those of a month: with a slot in every so many months, a part of the people reports in each.
  const reports = () => Math.max(1, Math.round(settings.people / settings.months));
  const toAddress = () => {
    const text = '#eps=' + settings.eps + '&people=' + settings.people +
      (settings.months > 1 ? '&months=' + settings.months : '') + '&seed=' + settings.seed;
    if (location.hash !== text) history.replaceState(null, '', text);
  };

  // What is known. Nothing of it is stored.
  let world = null, me = new Map(), cursor = 0, files = { points: '', counts: '' }, accepted = files;
  let cloud = null, drawnAt = -1, draws = 0, sample = 0, broken = false, shown = {};
  const kinds = [['truth', 'The truth', 'known only in a simulation'], ['raw', 'Releases as they come', 'one of each person, simulated'],
    ['estimate', 'Estimate', 'made from these releases'], ['oue', 'Rival: unary encoding', 'OUE, which knows no distances']];
  const slow = ['estimate', 'oue']; // maps that are not made while a slider moves

  // ---- drawing

  let ramp = [];
  const palette = () => {
    const style = getComputedStyle(document.documentElement);
    const hex = (name) => { const s = style.getPropertyValue(name).trim(); return [1, 3, 5].map((i) => parseInt(s.slice(i, i + 2), 16)); };
    const stops = ['--c0', '--c1', '--c2', '--c3'].map(hex);
    ramp = Array.from({ length: 256 }, (_, n) => {
      const t = n / 255 * 3, i = Math.min(2, Math.floor(t)), f = t - i;
      return 'rgb(' + stops[i].map((v, c) => Math.round(v + (stops[i + 1][c] - v) * f)).join(',') + ')';
    });
    ramp.mark = style.getPropertyValue('--mark').trim();
    ramp.fg = style.getPropertyValue('--fg').trim();
    for (const canvas of document.querySelectorAll('.scale')) {
      const legend = canvas.getContext('2d');
      for (let x = 0; x < 160; x++) { legend.fillStyle = colour(x / 159); legend.fillRect(x, 0, 1, 12); }
    }
  };
  const colour = (share) => ramp[Math.round(255 * Math.sqrt(Math.min(1, Math.max(0, share))))];

  const pixel = (canvas, i) => {
    const margin = world.rows ? 0 : 8, size = canvas.width - 2 * margin;
    return [margin + world.x[i] * size, margin + (1 - world.y[i]) * size];
  };
  const paint = (canvas, shares, top) => {
    const c = canvas.getContext('2d'), size = canvas.width;
    c.fillStyle = ramp[0];
    c.fillRect(0, 0, size, size);
    if (world.rows) {
      const w = size / world.cols, h = size / world.rows;
      for (let i = 0; i < world.x.length; i++) {
        if (!shares || !(shares[i] > 0)) continue;
        c.fillStyle = colour(shares[i] / top);
        c.fillRect(Math.floor((i % world.cols) * w), Math.floor(size - (Math.floor(i / world.cols) + 1) * h), Math.ceil(w), Math.ceil(h));
      }
      return;
    }
    const r = Math.max(2, Math.min(9, 0.35 * size / Math.sqrt(world.x.length)));
    for (let i = 0; i < world.x.length; i++) {
      const [x, y] = pixel(canvas, i);
      c.beginPath();
      c.arc(x, y, r, 0, 2 * Math.PI);
      c.fillStyle = colour(shares ? shares[i] / top : 0);
      c.fill();
      c.strokeStyle = ramp[90];
      c.lineWidth = 0.7;
      c.stroke();
    }
  };
  const ring = (canvas, i, r, filled) => {
    const c = canvas.getContext('2d'), [x, y] = pixel(canvas, i);
    c.beginPath();
    c.arc(x, y, r, 0, 2 * Math.PI);
    c.strokeStyle = c.fillStyle = ramp.mark;
    c.lineWidth = 3;
    if (filled) c.fill(); else c.stroke();
  };
  const highest = (shares) => shares.reduce((a, b) => Math.max(a, b), 0);

  const paintMe = () => {
    if (!world) return;
    paint($('me'), null, 1);
    let most = 0, total = 0;
    for (const n of me.values()) { most = Math.max(most, n); total += n; }
    for (const [i, n] of me) ring($('me'), i, 5 + 9 * Math.sqrt(n / most), true);
    if (document.activeElement === $('me')) {
      const c = $('me').getContext('2d'), [x, y] = pixel($('me'), cursor);
      c.strokeStyle = ramp.fg;
      c.lineWidth = 2;
      c.strokeRect(x - 11, y - 11, 22, 22);
    }
    say('mine', me.size ? 'My places: ' + [...me].sort((a, b) => b[1] - a[1]).slice(0, 6)
      .map(([i, n]) => world.labels[i] + ' (' + Math.round(100 * n / total) + ' %)').join(', ') + (me.size > 6 ? ', and more' : '')
      : 'No place yet: click on the map.');
  };
  const paintCloud = () => {
    if (!world) return;
    paint($('cloud'), cloud, cloud ? highest(cloud) : 1);
    say('cloudTop', cloud ? digits(100 * highest(cloud)) + ' %' : '');
    if (!cloud) return;
    for (const i of me.keys()) ring($('cloud'), i, 5, false);
    if (drawnAt >= 0) ring($('cloud'), drawnAt, 8, true);
  };
  // digits writes a number to two or three significant digits, without an exponent where a reader can do without.
  const digits = (v) => {
    const short = v.toPrecision(v < 0.995 ? 2 : 3);
    return v >= 999.5 && v < 1e7 ? Number(short).toLocaleString('en') : short;
  };
  const far = (w) => (w === 0 ? '0' : digits(w)) + ' ' + world.unit;

  const figure = (host, name, title, note) => {
    const f = document.createElement('figure'), canvas = document.createElement('canvas'), caption = document.createElement('figcaption');
    const b = document.createElement('b'), bar = document.createElement('div'), fill = document.createElement('i'), text = document.createElement('span');
    canvas.width = canvas.height = 240;
    canvas.className = 'map';
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-label', title + ', ' + note);
    b.textContent = title;
    const small = document.createElement('small');
    small.textContent = note;
    bar.className = 'bar';
    bar.setAttribute('aria-hidden', 'true');
    bar.append(fill);
    caption.append(b, small, bar, text);
    f.append(canvas, caption);
    f.dataset.map = name;
    host.append(f);
    return { figure: f, canvas, fill, small, text, painted: [] };
  };
  const panels = Object.fromEntries(kinds.map(([name, title, note]) => [name, figure($('maps'), name, title, note)]));

  const paintMaps = () => {
    if (!world) return;
    const have = Object.values(shown);
    const top = have.reduce((a, m) => Math.max(a, highest(m.shares)), 0) || 1;
    say('top', digits(100 * top) + ' %.');
    for (const [name] of kinds) {
      const m = shown[name], p = panels[name];
      const now = [m && m.shares, top, ramp, world];
      if (now.some((v, i) => v !== p.painted[i])) paint(p.canvas, m ? m.shares : null, top);
      p.painted = now;
      p.figure.classList.toggle('stale', !m || !!m.stale);
      p.fill.style.width = (m ? Math.min(100, 100 * m.w1 / m.guess) : 0) + '%';
      if (!m) { p.text.textContent = '…'; continue; }
      if (m.reading) p.small.textContent = 'OUE, which knows no distances, ' + m.reading;
      p.text.textContent = name === 'truth' ? 'A guess is ' + far(m.guess) + ' away.'
        : far(m.w1) + ' from the truth; a guess: ' + far(m.guess) + '.';
    }
    const e = shown.estimate, raw = shown.raw;
    if (e && !e.stale) {
      say('learned', 'From ' + reports().toLocaleString('en') + ' places, one of each person' +
        (settings.months > 1 ? ' whose month it is' : '') + ', the map is ' + far(e.w1) +
        ' from the truth. A guess without any data is ' + far(e.guess) + ' away.' +
        (e.error ? ' By the releases alone, the server expects its map to be about ' + far(e.error.expected) +
          ' off, and at most ' + far(e.error.within90) + ' in nine of ten cases.' : '') +
        (e.signal === 'none' ? ' These few releases say next to nothing at this ε.' : ''));
    } else if (raw) {
      say('learned', 'The releases as they come are ' + far(raw.w1) + ' from the truth.' +
        (reports() > live ? ' While the slider moves, these are ' + live + ' people.' : '') + ' The estimate follows when it rests' +
        (world.x.length > 600 ? ', and takes a minute for so many places.' : '.'));
    }
  };

  const paintBars = () => {
    const e = Math.exp(Number(settings.eps));
    const after = (p) => p * e / (1 - p + p * e);
    for (const [id, p] of [['even', 0.5], ['rare', 0.01]]) {
      $(id + 'Before').style.width = 100 * p + '%';
      $(id).style.width = 100 * after(p) + '%';
      say(id + 'Out', percent(100 * after(p)));
    }
    say('factor', e < 100 ? e.toFixed(1) : Math.round(e).toLocaleString('en'));
    say('epsOut', settings.eps);
    $('people').setAttribute('aria-valuetext', settings.people + ' people');
    say('count', reports().toLocaleString('en') + ' people');
    const year = 12 / settings.months, eps = year * Number(settings.eps);
    say('yearOut', (year === 1 ? 'one release, ' : year + ' releases, together ') + 'ε = ' + Math.round(10 * eps) / 10 +
      ': sure to 50 % before, ' + even(eps) + ' after');
    say('monthOut', reports().toLocaleString('en') + (settings.months > 1 ? ' of the ' + settings.people.toLocaleString('en') : ''));
    paintSum();
  };
  const percent = (v) => (v > 99.9 ? v.toFixed(2) : v > 10 ? v.toFixed(1) : v.toPrecision(2)) + ' %';
  const even = (eps) => (eps > 9 ? 'next to certain' : 'at most ' + percent(100 / (1 + Math.exp(-eps))));
  let summed = null;
  const paintSum = () => {
    say('sumOut', summed ? 'ε = ' + digits(Math.ceil(summed.eps * 1000) / 1000) + ', but for a chance of ' + summed.delta.toPrecision(1) +
      ': sure to 50 % before, ' + even(summed.eps) + ' after' : '…');
  };

  // ---- workers: one follows the slider, one makes the estimate

  const blob = URL.createObjectURL(new Blob([$('worker').textContent], { type: 'text/javascript' }));
  let module = null;
  const places = (of) => ({ do: 'world', points: of.points, counts: of.counts });
  class Engine {
    constructor(hear) { this.hear = hear; this.number = this.deaths = 0; this.asked = ''; this.start(); }

    start() {
      this.ready = this.busy = false;
      this.waiting = [];
      this.worker = new Worker(blob);
      this.worker.onmessage = ({ data }) => this.message(data);
      this.worker.onerror = (e) => { e.preventDefault(); this.dead(e.message || ''); };
      if (module) this.send({ kind: 'start', module });
      else if (this === engines.fast || !engines.fast) this.send({ kind: 'start', text: $('wasm').textContent.trim() });
    }

    send(message) { this.worker.postMessage(message); }

    message(data) {
      switch (data.kind) {
        case 'ready':
          this.ready = true;
          if (!module) { module = data.module; $('wasm').textContent = ''; engines.slow.send({ kind: 'start', module }); }
          this.single(places(accepted));
          for (const m of this.waiting.splice(0)) this.send(m);
          break;
        case 'answer':
          if (data.plan === this.number && data.left === 0) this.busy = false;
          this.hear(data, data.plan === -1 || data.plan === this.number);
          settle();
          break;
        case 'dead': this.dead(data.text);
      }
    }

    // dead: the program has ended, out of memory say. A new one takes its place; the first that cannot start at all is the end.
    dead(text) {
      this.worker.terminate();
      say('status', 'The computation stopped: ' + (text.split('\n')[0] || 'no reason given') + '.');
      if (module && ++this.deaths < 4) this.start();
    }

    // plan replaces what is left of the last plan, unless it is the same.
    plan(steps) {
      const asked = JSON.stringify(steps);
      if (this.busy && asked === this.asked) return;
      this.asked = asked;
      this.busy = steps.length > 0;
      const message = { kind: 'plan', number: ++this.number, steps };
      if (this.ready) this.send(message); else this.waiting = [message];
    }

    single(step) {
      const message = { kind: 'single', step };
      if (this.ready) this.send(message); else this.waiting.push(message);
    }

    // stop ends what is under way: a step cannot be interrupted, its worker can.
    stop() {
      this.number++;
      this.waiting = [];
      if (this.busy && this.ready && module) { this.worker.terminate(); this.start(); }
      this.busy = false;
    }
  }

  // settle says, for tests, whether the page shows all that the settings ask for.
  let rested = false;
  const settle = () => { document.documentElement.dataset.settled = String(rested && !engines.fast.busy && !engines.slow.busy); };
  const phase = (name, detail) => {
    document.documentElement.dataset.phase = name;
    document.dispatchEvent(new CustomEvent('wpm', { detail: { phase: name, ...detail } }));
  };
  const mine = () => [...me].map(([place, count]) => ({ place, count }));
  const common = (people) => ({ eps: settings.eps, seed: settings.seed, people });

  const hearFast = ({ step, reply, left }, fresh) => {
    if (step.do === 'world') return hearWorld(reply, step);
    if (!fresh || old(step)) return;
    if (reply.error) { say('status', reply.error); phase('error', { error: reply.error }); return; }
    if (step.do === 'person') { me = new Map(reply.me.map(({ place, count }) => [place, count])); if (done.truth) mineChanged(); else changed(); return; }
    if (step.do === 'draw') {
      drawnAt = reply.drawn;
      say('drawn', 'Simulation: ' + world.labels[drawnAt]);
      paintCloud();
    }
    if (step.do === 'design') {
      const d = reply.design;
      cloud = d.cloud || null;
      say('worst', far(d.worst));
      say('lower', far(d.lower));
      say('cloudW1', cloud ? 'My cloud is ' + far(d.w1) + ' from my places. On a phone that runs a solver it is ' + far(d.closest) + '.' : 'No place, no cloud.');
      $('draw').disabled = !cloud;
      paintCloud();
      say('status', 'Ready.');
    }
    if (reply.map) { shown[step.do] = reply.map; paintMaps(); }
    if (reply.broken) hearBroken(reply.broken);
    done[step.do] = JSON.stringify(step);
    phase(step.do, { eps: step.eps, people: step.people, left });
  };
  const hearSlow = ({ step, reply, left }, fresh) => {
    if (step.do === 'world' || !fresh) return;
    if (reply.error) { say('status', reply.error); phase('error', { error: reply.error }); return; }
    if (reply.proof) { proof = reply.proof; showProof(); }
    if (reply.sum) { summed = reply.sum; paintSum(); }
    if (reply.map) { shown[step.do] = reply.map; paintMaps(); }
    done[step.do] = JSON.stringify(step);
    phase(step.do, { eps: step.eps, people: step.people, left });
  };
  // old tells whether a single question was about what has changed meanwhile.
  const old = (step) => (step.do === 'draw' && JSON.stringify(step.me) !== JSON.stringify(mine())) ||
    ((step.do === 'draw' || step.do === 'break') && step.eps !== settings.eps);
  const hearWorld = (reply, { points, counts }) => {
    if (reply.error) {
      complain(reply.error);
      if (files.points === points && files.counts === counts) files = accepted; // the engine has kept the last world, too
      rest();
      return;
    }
    const first = !world;
    accepted = { points, counts };
    world = reply.world;
    shown = {};
    done = {};
    cloud = null;
    cursor = Math.min(cursor, world.x.length - 1);
    if (world.own) {
      $('fileStatus').classList.remove('bad');
      say('fileStatus', world.x.length.toLocaleString('en') + ' places' +
        (world.users ? ', ' + world.users.toLocaleString('en') + ' users' : counts ? ', with counts' : ', made-up people') + '. Distances are in ' + world.unit + '.');
    } else if (!first) {
      $('fileStatus').classList.remove('bad');
      say('fileStatus', 'The made-up city' + (counts ? ', with your counts' : '') + '. At most 2,000 places and 5 MB.');
    }
    say('scale', world.rows ? 'The city is ' + world.cols + ' cells wide.' : '');
    if (first && results) showResults();
    engines.slow.stop();
    if (!first && engines.slow.ready) engines.slow.single(places(accepted));
    engines.fast.plan([]); // it was of the last world
    me = new Map();
    proof = null;
    engines.fast.single({ do: 'person', person: sample });
  };
  // showProof shows what the check found: at the settings, or what it refuses, if broken.
  const showProof = () => {
    const p = proof;
    broken = false;
    say('worst', far(p.worst));
    say('lower', far(p.lower));
    $('break').disabled = false;
    $('proof').classList.remove('stale');
    say('break', 'Break it: make one number larger by 1');
    verdict('Accepted: ε = ' + settings.eps + ' holds at all ' + world.x.length.toLocaleString('en') + ' places, and so do both bounds of part 2.', 'good');
    say('bits', String(p.bits));
    say('column', world.labels[p.column]);
    for (const name of ['high', 'low', 'ratio', 'bound']) say(name, p[name]);
  };
  const hearBroken = (b) => {
    broken = true;
    say('high', b.high);
    verdict('Refused, with ' + world.labels[b.column] + ' at one more: ' + b.refusal, 'bad');
    say('ratio', 'above e^ε');
    say('break', 'Mend it: take the 1 away');
    $('break').disabled = false;
  };
  const verdict = (text, kind) => {
    $('verdict').className = 'verdict ' + kind;
    say('verdict', text);
  };

  // ---- settings and what follows from them

  let timer = 0, proof = null, done = {}; // the last of each step that was answered
  const steps = (people) => [{ do: 'design', eps: settings.eps, me: mine() },
    ...['truth', 'raw'].map((what) => ({ do: what, ...common(people) }))];
  const later = () => [{ do: 'prove', eps: settings.eps }, { do: 'sum', eps: settings.eps, people: reports() },
    ...slow.map((what) => ({ do: what, ...common(reports()) }))];
  const isDone = (step) => done[step.do] === JSON.stringify(step);
  const moving = (plan) => {
    drawnAt = -1; // it was of another cloud
    say('drawn', '');
    paintMe();
    if (!world) return;
    engines.fast.plan(plan);
    rested = false;
    settle();
    phase('moving', { eps: settings.eps });
    clearTimeout(timer);
    timer = setTimeout(rest, restAfter);
  };
  // My places are nothing to the other people, nor to the mechanism.
  const mineChanged = () => moving(steps(0).slice(0, 1));
  const changed = () => {
    paintBars();
    if (world) {
      const [prove, sum, ...maps] = later();
      for (const step of maps) if (shown[step.do]) shown[step.do].stale = !isDone(step);
      paintMaps();
      if (!isDone(sum)) { summed = null; paintSum(); }
      if (isDone(prove)) showProof();
      else {
        $('break').disabled = true;
        $('proof').classList.add('stale');
        verdict('Checking…', '');
      }
      engines.slow.stop();
    }
    moving(steps(Math.min(live, reports())));
  };
  const rest = () => {
    toAddress();
    if (!world) return;
    engines.fast.plan(steps(reports()).filter((step) => !isDone(step)));
    engines.slow.plan(later().filter((step) => !isDone(step)));
    rested = true;
    settle();
    phase('rest', { eps: settings.eps });
  };
  const showSettings = () => {
    $('eps').value = settings.eps;
    const far = (n) => Math.abs(Math.log(n / settings.people));
    $('people').value = String(sizes.reduce((a, n, i) => (far(n) < far(sizes[a]) ? i : a), 0));
    $('peopleNumber').value = String(settings.people);
    $('months').value = String(settings.months);
  };

  $('eps').addEventListener('input', () => { settings.eps = String(Math.round(Number($('eps').value) * 10) / 10); changed(); });
  $('people').addEventListener('input', () => { settings.people = sizes[Number($('people').value)]; showSettings(); changed(); });
  $('peopleNumber').addEventListener('change', () => { adopt({ people: Number($('peopleNumber').value) }); showSettings(); changed(); });
  $('months').addEventListener('change', () => { adopt({ months: Number($('months').value) }); changed(); });
  addEventListener('hashchange', () => { fromAddress(); showSettings(); changed(); });
  $('sample').addEventListener('click', () => { sample++; engines.fast.single({ do: 'person', person: sample }); });
  $('clear').addEventListener('click', () => { me = new Map(); mineChanged(); });
  $('draw').addEventListener('click', () => engines.fast.single({ do: 'draw', eps: settings.eps, me: mine(), person: ++draws }));
  $('break').addEventListener('click', () => {
    if (broken) { showProof(); return; }
    $('break').disabled = true;
    engines.fast.single({ do: 'break', eps: settings.eps });
  });

  const sayCursor = () => {
    const n = me.get(cursor) || 0;
    say('cursor', world.labels[cursor] + ': ' + n + (n === 1 ? ' visit' : ' visits'));
  };
  const visit = (i, by) => {
    cursor = i;
    const n = Math.min(1 << 20, (me.get(i) || 0) + by);
    if (n > 0) me.set(i, n); else me.delete(i);
    sayCursor();
    mineChanged();
  };
  const nearest = (x, y) => {
    let best = 0, least = Infinity;
    for (let i = 0; i < world.x.length; i++) {
      const [px, py] = pixel($('me'), i), d = (px - x) ** 2 + (py - y) ** 2;
      if (d < least) { least = d; best = i; }
    }
    return best;
  };
  $('me').addEventListener('click', (e) => {
    if (!world) return;
    const box = $('me').getBoundingClientRect(), scale = $('me').width / box.width;
    visit(nearest((e.clientX - box.left) * scale, (e.clientY - box.top) * scale), 1);
  });
  // step finds the nearest place in a direction.
  const step = (dx, dy) => {
    let best = cursor, least = Infinity;
    for (let i = 0; i < world.x.length; i++) {
      const x = world.x[i] - world.x[cursor], y = world.y[i] - world.y[cursor];
      const along = x * dx + y * dy, across = Math.abs(x * dy - y * dx), d = along + 3 * across;
      if (along > 1e-9 && d < least) { least = d; best = i; }
    }
    return best;
  };
  const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  $('me').addEventListener('keydown', (e) => {
    if (!world || e.ctrlKey || e.altKey || e.metaKey) return;
    if (arrows[e.key]) {
      cursor = step(...arrows[e.key]);
      sayCursor();
      paintMe();
    } else if (e.key === 'Enter' || e.key === ' ') visit(cursor, 1);
    else if (e.key === 'Delete' || e.key === 'Backspace') { if (me.has(cursor)) visit(cursor, -1); } else return;
    e.preventDefault();
  });
  $('me').addEventListener('focus', paintMe);
  $('me').addEventListener('blur', paintMe);

  // ---- files: read into memory, handed to the workers, and nowhere else

  const complain = (text) => { $('fileStatus').classList.add('bad'); say('fileStatus', text); };
  const limit = 'more than 5 MB.';
  // take reads files, of a kind or of that which their first line names, and loads them together.
  const take = async (list, kind) => {
    const next = { ...files };
    for (const file of list) {
      if (file.size > maxBytes) { complain(file.name + ' has ' + limit); return; }
      let text;
      try {
        text = new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer());
      } catch { complain(file.name + ' is not text in UTF-8.'); return; }
      if (!text.trim()) { complain(file.name + ' is empty.'); return; }
      const of = kind || (/(^|,)\s*"?count"?\s*$/i.test(text.slice(0, 1000).split(/\r?\n/)[0]) ? 'counts' : 'points');
      if (of === 'points' && (kind || list.length === 1)) next.counts = ''; // they were of other places
      next[of] = text;
    }
    load(next);
  };
  const load = (next) => {
    if (next.points.length + next.counts.length > maxBytes) { complain('Both files together have ' + limit); return; }
    files = next;
    $('fileStatus').classList.remove('bad');
    say('fileStatus', 'Reading…');
    clearTimeout(timer);
    rested = false;
    engines.fast.plan([]);
    settle();
    engines.fast.single(places(files));
  };
  for (const kind of ['points', 'counts']) $(kind).addEventListener('change', async () => { await take([...$(kind).files], kind); $(kind).value = ''; });
  $('city').addEventListener('click', () => load({ points: '', counts: '' }));
  for (const name of ['dragover', 'dragenter']) {
    addEventListener(name, (e) => { e.preventDefault(); document.body.classList.add('over'); });
  }
  addEventListener('dragleave', (e) => { if (!e.relatedTarget) document.body.classList.remove('over'); });
  addEventListener('drop', (e) => {
    e.preventDefault();
    document.body.classList.remove('over');
    const list = [...e.dataTransfer.files];
    if (list.length > 2) complain('Drop one file of places, one of counts, or both.');
    else if (list.length) take(list, '');
  });

  // ---- results of wpm demo

  const showResults = () => {
    $('demo').hidden = false;
    say('sentence', results.sentence);
    const top = results.maps.reduce((a, m) => Math.max(a, highest(m.shares)), 0) || 1;
    for (const m of results.maps) {
      const p = figure($('demoMaps'), 'demo', m.title, m.note);
      const keep = world;
      world = { ...world, rows: results.rows, cols: results.cols, x: m.shares, y: m.shares };
      paint(p.canvas, m.shares, top);
      world = keep;
    }
  };

  // ---- begin

  palette();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { palette(); paintMe(); paintCloud(); paintMaps(); });
  showSettings();
  paintBars();
  const engines = {};
  if (typeof DecompressionStream === 'undefined' || typeof WebAssembly === 'undefined') {
    say('status', 'This browser is too old for the page: it needs WebAssembly and DecompressionStream.');
    return;
  }
  engines.fast = new Engine(hearFast);
  engines.slow = new Engine(hearSlow);
})();
