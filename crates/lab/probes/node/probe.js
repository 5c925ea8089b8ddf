'use strict';
// A probe of hotset for Node: one job, one line of JSON. docs/probes.md has the contract.

const fs = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
const vm = require('node:vm');
const { pathToFileURL } = require('node:url');

const SUPPORTS = [
  'read:binary', 'read:text', 'read:legacy', 'parse', 'write',
  'load:require', 'load:esm', 'load:path', 'load:known',
  'readall:binary', 'readall:text', 'readall:legacy', 'exists', 'compile', 'library', 'compilefiles',
];
if (Module.enableCompileCache) SUPPORTS.push('load:compile-cache', 'prepare:compile-cache');

/** Write calls of this process so far, as the kernel counted them; undefined where it doesn't tell. */
function writeCalls() {
  try {
    const counted = fs.readFileSync('/proc/self/io', 'latin1').match(/^syscw: (\d+)/m);
    return counted ? Number(counted[1]) : undefined;
  } catch {
    return undefined;
  }
}

/** Of a file that is not timed. */
const WARM_UPS = 3;

/** The same work with another file, so that the first timed part has none of the program's own first times. */
function warmUp(words, work) {
  for (let turn = 0; turn < WARM_UPS && words.prime !== undefined; turn += 1) work(words.prime);
}

/** Nanoseconds that `work` takes; awaits it only where it is a promise. */
async function timed(work) {
  const started = process.hrtime.bigint();
  const pending = work();
  if (pending instanceof Promise) await pending;
  return Number(process.hrtime.bigint() - started);
}

function readWhole(file, how) {
  switch (how) {
    case 'binary': return fs.readFileSync(file);
    case 'text': return fs.readFileSync(file, 'utf8');
    case 'legacy': return new TextDecoder('windows-31j').decode(fs.readFileSync(file));
    default: throw new Error(`how=${how} is not one of binary, text, legacy`);
  }
}

/** A word that has to be there. */
function need(words, key) {
  if (words[key] === undefined) throw new Error(`${key}= is missing`);
  return words[key];
}

function number(words, key) {
  const value = Number(need(words, key));
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${key}=${words[key]} is no whole number`);
  return value;
}

const numbered = (prefix, count) =>
  Array.from({ length: count }, (_, place) => prefix + String(place).padStart(3, '0'));

const namesOf = (words) => numbered(need(words, 'prefix'), number(words, 'count'));

const pathsOf = (words, suffix) => namesOf(words).map((name) => path.join(need(words, 'dir'), name + suffix));

/** The empty directories before the one that has the files. */
function beforeOf(words) {
  const names = words.directories === undefined ? [] : numbered('d', number(words, 'directories'));
  return names.map((name) => path.join(need(words, 'before'), name));
}

/** The times of `count` repetitions, one after the other. */
async function repeated(count, work) {
  const times = [];
  for (let done = 0; done < count; done += 1) times.push(await timed(work));
  return times;
}

const jobs = {
  about: () => ({ executable: process.execPath, supports: SUPPORTS }),

  async read(words) {
    const [file, count, how] = [need(words, 'file'), number(words, 'count'), words.how ?? 'binary'];
    warmUp(words, (other) => { readWhole(other, how); });
    const times = await repeated(count, () => { readWhole(file, how); });
    return { bytes: fs.statSync(file).size * count, calls: { open: count }, operations: count, repetitions_ns: times };
  },

  async parse(words) {
    const [file, count, what] = [need(words, 'file'), number(words, 'count'), need(words, 'what')];
    const document = what === 'parse' ? readWhole(file, 'text') : undefined;
    const work = {
      read: (path) => { readWhole(path, 'text'); },
      'read+parse': (path) => { JSON.parse(readWhole(path, 'text')); },
      parse: () => { JSON.parse(document); },
    }[what];
    if (!work) throw new Error(`what=${what} is not one of read, read+parse, parse`);
    warmUp(words, work);
    const times = await repeated(count, () => { work(file); });
    const opened = what === 'parse' ? 0 : count;
    const bytes = fs.statSync(file).size * opened;
    return { bytes, calls: { open: opened }, operations: count, repetitions_ns: times };
  },

  /** Node's synchronous writes have no buffer. */
  async write(words) {
    const [total, piece, buffer] = [number(words, 'total'), number(words, 'piece'), number(words, 'buffer')];
    if (buffer !== 0) throw new Error(`buffer=${buffer}: Node's synchronous writes have none, so 0`);
    const pieces = Array.from({ length: Math.floor(total / piece) }, () => Buffer.alloc(piece, 'x'));
    if (total % piece) pieces.push(Buffer.alloc(total % piece, 'x'));
    const before = writeCalls();
    const took = await timed(() => {
      const file = fs.openSync(need(words, 'file'), 'w');
      for (const data of pieces) fs.writeSync(file, data);
      if (words.sync === 'fsync') fs.fsyncSync(file);
      fs.closeSync(file);
    });
    const answer = { bytes: total, calls: { open: 1 }, operations: pieces.length, repetitions_ns: [took] };
    return before === undefined ? answer : { ...answer, write_calls: writeCalls() - before };
  },

  async load(words) {
    const [how, directory] = [need(words, 'how'), need(words, 'dir')];
    const along = [...beforeOf(words), directory];
    const names = namesOf(words);
    const files = pathsOf(words, how === 'esm' ? '.mjs' : '.js');
    const urls = files.map((file) => pathToFileURL(file).href);
    const load = {
      require: () => { for (const name of names) require(path.join(directory, name)); },
      known: () => { for (const file of files) require(file); },
      path: () => { for (const name of names) require(name); },
      esm: async () => { for (const url of urls) await import(url); },
      'compile-cache': () => { for (const file of files) require(file); },
    }[how];
    if (!load) throw new Error(`how=${how} is not one of require, known, path, esm, compile-cache`);
    if (how === 'compile-cache') Module.enableCompileCache(`${directory}.cache`);
    process.env.NODE_PATH = along.join(path.delimiter);
    Module._initPaths();
    const took = await timed(load);
    return { operations: names.length, repetitions_ns: [took] };
  },

  async readall(words) {
    const [files, how] = [pathsOf(words, need(words, 'suffix')), words.how ?? 'binary'];
    const took = await timed(() => { for (const file of files) readWhole(file, how); });
    const bytes = files.reduce((sum, file) => sum + fs.statSync(file).size, 0);
    return { bytes, calls: { open: files.length }, operations: files.length, repetitions_ns: [took] };
  },

  async exists(words) {
    const [suffix, times] = [need(words, 'suffix'), number(words, 'times')];
    const places = [...beforeOf(words), need(words, 'dir')];
    const searches = namesOf(words).map((name) => places.map((place) => path.join(place, name + suffix)));
    let [found, asked] = [0, 0];
    const took = await timed(() => {
      for (let round = 0; round < times; round += 1) {
        for (const files of searches) {
          const missed = files.findIndex((file) => fs.existsSync(file));
          if (missed >= 0) found += 1;
          asked += missed >= 0 ? missed + 1 : files.length;
        }
      }
    });
    return { calls: { exists: asked }, notes: { found }, operations: searches.length * times, repetitions_ns: [took] };
  },

  compile: (words) => compileAll(pathsOf(words, '.js')),

  compilefiles: (words) => compileAll(fs.readFileSync(need(words, 'list'), 'utf8').split('\n').filter(Boolean)),

  /** The cache is written when the process ends. */
  prepare: (words) => jobs.load({ ...words, how: need(words, 'how') }),

  async library(words) {
    const load = Module.createRequire(path.join(process.cwd(), 'probe.js'));
    const name = need(words, 'name');
    const took = await timed(() => { if (name !== '') load(name); });
    const files = Object.keys(require.cache).filter((file) => file !== __filename);
    const rows = files.map((file) => ({ source: file, read: file }));
    return { operations: 1, repetitions_ns: [took], modules: files.length, files: rows };
  },
};

/** Compiles as require() does: within the function that gives a module its names. V8 leaves inner functions for their first call. */
async function compileAll(files) {
  const sources = files.map((file) => [Module.wrap(readWhole(file, 'text')), file]);
  const took = await timed(() => { for (const [source, filename] of sources) new vm.Script(source, { filename }); });
  const bytes = files.reduce((sum, file) => sum + fs.statSync(file).size, 0);
  return { bytes, operations: files.length, repetitions_ns: [took] };
}

async function main() {
  const [job, ...rest] = process.argv.slice(2);
  const words = Object.fromEntries(rest.map((word) => [word.split('=', 1)[0], word.slice(word.indexOf('=') + 1)]));
  if (!Object.hasOwn(jobs, job)) throw new Error(`there is no job ${job}`);
  const empty = { bytes: 0, calls: {}, operations: 0, repetitions_ns: [] };
  const answer = await jobs[job](words);
  process.stdout.write(`${JSON.stringify({ probe: 'node', version: process.versions.node, job, ...empty, ...answer })}\n`);
}

main().catch((error) => {
  process.stderr.write(`${String(error.message).split('\n', 1)[0]}\n`);
  process.exitCode = 1;
});
