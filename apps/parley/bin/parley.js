#!/usr/bin/env node
// Plain JavaScript on purpose: it must run on any old Node, find the bundled Node 24, and go on there.
import { spawn } from 'node:child_process';
import module from 'node:module';
import { dirname, join } from 'node:path';

const NEEDED = 24;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

if (Number(process.versions.node.split('.')[0]) >= NEEDED) {
  module.enableCompileCache();
  const { main } = await import('../src/main.ts');
  process.exitCode = await main(process.argv.slice(2));
} else {
  const { resolve } = module.createRequire(import.meta.url);
  const bundled = join(dirname(resolve('node/package.json')), 'bin', 'node');
  const child = spawn(bundled, [...process.execArgv, ...process.argv.slice(1)], {
    stdio: 'inherit',
  });
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    process.stderr.write(
      `Parley needs Node ${NEEDED} and could not start its own (${error.message}). Run "npm ci" again.\n`,
    );
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    for (const name of SIGNALS) process.removeAllListeners(name);
    if (signal) process.kill(process.pid, signal);
    else process.exit(code ?? 1);
  });
}
