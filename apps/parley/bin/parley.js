#!/usr/bin/env node
// Plain JavaScript on purpose: it must run on any old Node, find the bundled Node 24, and go on there.
import { spawn } from 'node:child_process';
import module from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import v8 from 'node:v8';

const NEEDED = 24;
/** @type {NodeJS.Signals[]} */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** Commands that run until they are stopped: their log is read, and they start within limits of memory. */
const LONG_RUNNING = new Set(['start', 'gateway', 'worker', 'simulate']);
/** Bounds the space of young objects, in MB. Node takes it only when it starts. */
const YOUNG_SPACE = '--max-semi-space-size';
/** Few arenas of malloc: each keeps what threads have freed. Read when a process starts. */
const ARENAS = 'MALLOC_ARENA_MAX';
/** Supervisors wait 10 s for the end of a process; one whose event loop stands still does not hear a signal. In ms. */
const KILL_AFTER_MS = 11_000;

const isOld = Number(process.versions.node.split('.')[0]) < NEEDED;
const isLongRunning = process.argv.some((word) => LONG_RUNNING.has(word));
if (isOld || (isLongRunning && !isWithinLimits()))
  startWithin(isOld ? bundledNode() : process.execPath);
else await run();

async function run() {
  // The heap grows by 90 % of what is in use before all of it is collected. Less growth takes processor
  // time (50 %: twice as many full collections under load), more growth memory (each 10 %: 3 to 5 MB
  // after a load). It is no limit, at which a process would die.
  v8.setFlagsFromString('--heap-growing-percent=90');
  const { findProgram, noteRunning, programModule } = await import('./bundle.js');
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const program = findProgram(root);
  if (program.note !== '' && isLongRunning) {
    process.stderr.write(
      `${program.note}: the sources run, which start slower and take more memory; "npm run build" makes the bundle.\n`,
    );
  }
  if (program.folder !== null) noteRunning(program.folder);
  keepCompiled(program.folder);
  const entry = { name: 'main', source: 'apps/parley/src/main.ts' };
  const { main } = await import(programModule(root, program, entry));
  process.exitCode = await main(process.argv.slice(2));
}

/**
 * Whether this process was started with both limits, as by the image and the units of a service. Values that an
 * operator has chosen count as well.
 */
function isWithinLimits() {
  const flags = [...process.execArgv, process.env.NODE_OPTIONS ?? ''];
  return process.env[ARENAS] !== undefined && flags.some((flag) => flag.includes(YOUNG_SPACE));
}

/**
 * Starts the program again with its limits: in this very process where the system can exchange its program, else
 * in a child that gets the signals of this one.
 * @param {string} node
 */
function startWithin(node) {
  const flags = process.execArgv.some((flag) => flag.startsWith(YOUNG_SPACE))
    ? process.execArgv
    : [`${YOUNG_SPACE}=8`, ...process.execArgv];
  const args = [...flags, ...process.argv.slice(1)];
  const env = { [ARENAS]: '2', ...process.env };
  // Absent from older Nodes, and on Windows it throws.
  if (process.execve !== undefined && process.platform !== 'win32') {
    process.execve(node, [node, ...args], env);
  }
  const child = spawn(node, args, { stdio: 'inherit', env });
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      child.kill(signal);
      setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS).unref();
    });
  }
  child.on('error', (error) => {
    process.stderr.write(
      `Parley needs Node ${NEEDED} and could not start the one it brings (${error.message}).\n`,
    );
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    for (const name of SIGNALS) process.removeAllListeners(name);
    if (signal) process.kill(process.pid, signal);
    else process.exit(code ?? 1);
  });
}

/** The Node that npm has installed with Parley: an optional package, one for each platform. */
function bundledNode() {
  const windows = process.platform === 'win32';
  const name = `node-${windows ? 'win' : process.platform}-${process.arch}`;
  try {
    const manifest = module.createRequire(import.meta.url).resolve(`${name}/package.json`);
    return join(dirname(manifest), 'bin', windows ? 'node.exe' : 'node');
  } catch {
    process.stderr.write(
      `Parley needs Node ${NEEDED} or newer, and this is ${process.version}. npm has not installed its own Node (${name}): install Parley again without --omit=optional, or Node ${NEEDED} from https://nodejs.org.\n`,
    );
    process.exit(1);
  }
}

/**
 * Beside the bundle, where the build has put it; in Node's own place where this user cannot write there,
 * and for sources.
 * @param {string | null} folder
 */
function keepCompiled(folder) {
  if (folder !== null) {
    const beside = module.enableCompileCache({ directory: join(folder, 'cache'), portable: true });
    if (beside.status !== module.constants.compileCacheStatus.FAILED) return;
  }
  module.enableCompileCache();
}
