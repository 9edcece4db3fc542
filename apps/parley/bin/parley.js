#!/usr/bin/env node
// Deliberately plain JavaScript: it must run on any old Node, find the bundled Node 24, and
// continue with it.
import { spawn } from 'node:child_process';
import module from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import v8 from 'node:v8';

const NEEDED = 24;
/** @type {NodeJS.Signals[]} */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/**
 * Commands that run until they are stopped. They log why the sources run, and start with memory
 * limits.
 */
const LONG_RUNNING = new Set(['start', 'gateway', 'worker', 'simulate']);
/** Limits the space for young objects, in MB. Node accepts it only at startup. */
const YOUNG_SPACE = '--max-semi-space-size';
/**
 * Limits malloc arenas, which retain memory that threads have freed. Read when a process starts.
 */
const ARENAS = 'MALLOC_ARENA_MAX';
/**
 * Supervisors wait 10 s for a process to exit; one whose event loop is blocked does not handle
 * signals. In ms.
 */
const KILL_AFTER_MS = 11_000;

const isOld = Number(process.versions.node.split('.')[0]) < NEEDED;
const isLongRunning = process.argv.some((word) => LONG_RUNNING.has(word));
if (isOld || (isLongRunning && !isWithinLimits()))
  startWithin(isOld ? bundledNode() : process.execPath);
else await run();

/**
 * Runs this installation, or the one that `parley upgrade` has put in its place, with its own
 * launcher.
 */
async function run() {
  const { findUpgraded } = await import('./bundle.js');
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const upgraded = findUpgraded(root);
  if (upgraded === null) return await runProgram(root);
  await import(pathToFileURL(join(upgraded, 'apps/parley/bin/parley.js')).href);
}

/** @param {string} root */
async function runProgram(root) {
  // The heap grows by 90 % of its used size before a full collection. Less growth costs processor
  // time (50 %: twice as many full collections under load), more growth costs memory (each 10 %: 3
  // to 5 MB after a load). This is not a limit at which a process would crash.
  v8.setFlagsFromString('--heap-growing-percent=90');
  const { findProgram, noteRunning, programModule } = await import('./bundle.js');
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
 * Whether this process was started with both limits, as the image and the service units do. Values
 * set by an operator count as well.
 */
function isWithinLimits() {
  const flags = [...process.execArgv, process.env.NODE_OPTIONS ?? ''];
  return process.env[ARENAS] !== undefined && flags.some((flag) => flag.includes(YOUNG_SPACE));
}

/**
 * Restarts the program with its limits: in the same process if the system can replace its program,
 * otherwise in a child process, to which signals are forwarded.
 * @param {string} node
 */
function startWithin(node) {
  const flags = process.execArgv.some((flag) => flag.startsWith(YOUNG_SPACE))
    ? process.execArgv
    : [`${YOUNG_SPACE}=8`, ...process.execArgv];
  const args = [...flags, ...process.argv.slice(1)];
  const env = { [ARENAS]: '2', ...process.env };
  // Older versions of Node lack `execve`, and on Windows it throws.
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

/**
 * The path of the Node that npm installed with Parley, from an optional package for each platform.
 */
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
 * Caches compiled code beside the bundle, where the build has created the cache. Uses Node's
 * default location for sources, and if this user cannot write beside the bundle.
 * @param {string | null} folder
 */
function keepCompiled(folder) {
  if (folder !== null) {
    const beside = module.enableCompileCache({ directory: join(folder, 'cache'), portable: true });
    if (beside.status !== module.constants.compileCacheStatus.FAILED) return;
  }
  module.enableCompileCache();
}
