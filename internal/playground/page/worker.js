// The worker runs the program of package engine: a line of JSON in, a line out. It stands in front of wasm_exec.js, which takes
// the file system that it finds here. One plan of steps is worked off at a time; a new plan replaces what is left of the last
// one, and single questions go first.
'use strict';
(() => {
  const input = [];          // bytes for standard input
  let reader = null;         // the program, waiting for them
  let output = '', errors = '';
  const texts = new TextDecoder(), bytes = new TextEncoder();
  let answer = null;         // resolves with the next line
  const missing = (...args) => args.at(-1)(Object.assign(new Error('not here'), { code: 'ENOSYS' }));
  const give = () => {
    if (!reader || !input.length) return;
    const { buf, offset, length, done } = reader;
    reader = null;
    const n = Math.min(length, input[0].length);
    buf.set(input[0].subarray(0, n), offset);
    input[0] = input[0].subarray(n);
    if (!input[0].length) input.shift();
    done(null, n);
  };
  const fs = {
    constants: { O_WRONLY: -1, O_RDWR: -1, O_CREAT: -1, O_TRUNC: -1, O_APPEND: -1, O_EXCL: -1, O_DIRECTORY: -1 },
    writeSync(fd, buf) {
      if (fd === 2) { errors = (errors + texts.decode(buf)).slice(0, 2000); return buf.length; }
      output += texts.decode(buf, { stream: true });
      for (let end; (end = output.indexOf('\n')) >= 0;) {
        const line = output.slice(0, end), then = answer;
        output = output.slice(end + 1);
        answer = null;
        if (then) then(line);
      }
      return buf.length;
    },
    write(fd, buf, offset, length, position, done) {
      done(null, fs.writeSync(fd, buf.subarray(offset, offset + length)));
    },
    read(fd, buf, offset, length, position, done) {
      reader = { buf, offset, length, done };
      if (input.length) queueMicrotask(give);
    },
  };
  for (const name of ['chmod', 'chown', 'close', 'fchmod', 'fchown', 'fstat', 'fsync', 'ftruncate', 'lchown', 'link', 'lstat', 'mkdir',
    'open', 'readdir', 'readlink', 'rename', 'rmdir', 'stat', 'symlink', 'truncate', 'unlink', 'utimes']) fs[name] = missing;
  globalThis.fs = fs;

  const ask = (request) => new Promise((resolve) => {
    answer = (line) => resolve(JSON.parse(line));
    input.push(bytes.encode(JSON.stringify(request) + '\n'));
    give();
  });

  // A turn lets messages in that have come meanwhile; a timer would wait for 4 ms.
  const { port1, port2 } = new MessageChannel();
  let go = null;
  port1.onmessage = () => go();
  const turn = () => new Promise((resolve) => { go = resolve; port2.postMessage(0); });

  let plan = [], number = 0, first = [], busy = false;
  const work = async () => {
    if (busy) return;
    busy = true;
    await turn();
    while (first.length || plan.length) {
      const single = first.shift();
      const step = single || plan.shift(), of = single ? -1 : number, start = performance.now();
      const reply = await ask(step);
      postMessage({ kind: 'answer', plan: of, left: plan.length, step, reply, ms: performance.now() - start });
      await turn();
    }
    busy = false;
  };

  const start = async ({ text, module }) => {
    if (!module) {
      const packed = atob(text), raw = new Uint8Array(packed.length);
      for (let i = 0; i < raw.length; i++) raw[i] = packed.charCodeAt(i);
      const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream('gzip'));
      module = await WebAssembly.compile(await new Response(stream).arrayBuffer());
    }
    const program = new Go();
    const instance = await WebAssembly.instantiate(module, program.importObject);
    program.run(instance).then(() => postMessage({ kind: 'dead', text: errors }));
    postMessage({ kind: 'ready', module });
    work();
  };

  let started = false;
  onmessage = ({ data }) => {
    switch (data.kind) {
      case 'start':
        start(data).then(() => { started = true; }, (e) => postMessage({ kind: 'dead', text: String(e) }));
        return;
      case 'plan': plan = data.steps; number = data.number; break;
      case 'single': first.push(data.step); break;
    }
    if (started) work();
  };
})();
