#!/usr/bin/env -S MALLOC_ARENA_MAX=2 node --max-semi-space-size=8
// Plain JavaScript on purpose: it must run on any old Node, find the bundled Node 24, and go on there.
import { spawn } from 'node:child_process';
import module from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import v8 from 'node:v8';

const NEEDED = 24;
/** @type {NodeJS.Signals[]} */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** Of these the log is read. */
const LOGGED = new Set(['start', 'gateway', 'worker']);

if (Number(process.versions.node.split('.')[0]) >= NEEDED) {
  // The heap grows by 90 % of what is in use before all of it is collected. Less growth takes processor
  // time (50 %: twice as many full collections under load), more growth memory (each 10 %: 3 to 5 MB
  // after a load). It is no limit, at which a process would die. The space of young objects is bounded
  // by a flag of node, and what threads have freed by few arenas of malloc; the image and the first line
  // above give both.
  v8.setFlagsFromString('--heap-growing-percent=90');
  const { findProgram, noteRunning, programModule } = await import('./bundle.js');
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const program = findProgram(root);
  if (program.note !== '' && process.argv.some((word) => LOGGED.has(word))) {
    process.stderr.write(
      `${program.note}: the sources run, which start slower and take more memory; "npm run build" makes the bundle.\n`,
    );
  }
  if (program.folder !== null) noteRunning(program.folder);
  keepCompiled(program.folder);
  const entry = { name: 'main', source: 'apps/parley/src/main.ts' };
  const { main } = await import(programModule(root, program, entry));
  process.exitCode = await main(process.argv.slice(2));
} else {
  const bundled = bundledNode();
  const flags = ['--max-semi-space-size=8', ...process.execArgv];
  const child = spawn(bundled, [...flags, ...process.argv.slice(1)], {
    stdio: 'inherit',
    // Few arenas of malloc: each keeps what threads have freed.
    env: { MALLOC_ARENA_MAX: '2', ...process.env },
  });
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
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
