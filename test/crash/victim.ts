import { appendFileSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { getBundleModule } from '../services/bundle.ts';
import { Command, VictimLife, type VictimReport } from './victim-order.ts';

// Parley as `parley start`, `gateway` or `worker` composes it, except that it kills itself at a
// given point, with SIGKILL so that nothing is flushed, closed or released.

const { locateDataFolder, startParley }: typeof import('@parley/cli') = await import(
  getBundleModule('index')
);
const { folder: path, role, armed } = VictimLife.parse(JSON.parse(process.argv[2] ?? ''));
const folder = locateDataFolder(path, {});

let order = armed ?? null;
let passings = 0;
const report = (what: VictimReport): void => void process.send?.(what);

process.on('message', (message) => {
  order = Command.parse(message).command;
  passings = 0;
  report({ kind: 'obeys' });
});
// A victim must not outlive its harness, which counts the results.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

const parley = await startParley({
  folder,
  role,
  env: {},
  clock: Date.now,
  monotonic: () => performance.now(),
  random: Math.random,
  logTo: { write: (line) => appendFileSync(join(folder.path, 'victim.log'), line) },
  onState({ channel, state }) {
    if (state.kind === 'pairing') report({ kind: 'pairing', code: state.code });
    if (state.kind === 'connected') report({ kind: 'connected', channel });
  },
  checkpoint(passed) {
    if (passed !== order?.point) return;
    passings += 1;
    if (passings === order.nth) process.kill(process.pid, 'SIGKILL');
  },
});
process.on('SIGTERM', () => void parley.close().then(() => process.exit(0)));
report({ kind: 'ready' });
// A killed process does not write its compile cache on exit, but later processes should start fast.
module.flushCompileCache();
