import { appendFileSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { locateDataFolder, startParley } from '@parley/cli';
import type { DurablePoint } from '@parley/contracts';
import { Order, type Report } from './victim-order.ts';

// The whole of Parley as `parley start` composes it, but it kills itself at a point it is told:
// SIGKILL, so that nothing is flushed, closed or handed back.

module.enableCompileCache();
const [path, armed] = process.argv.slice(2);
const folder = locateDataFolder(path, {});

let point: DurablePoint | undefined;
let passingsLeft = 0;
const obey = (order: Order): void => {
  point = order.point;
  passingsLeft = order.nth;
};
const report = (what: Report): void => void process.send?.(what);

if (armed !== undefined) obey(Order.parse(JSON.parse(armed)));
process.on('message', (order) => {
  obey(Order.parse(order));
  report('armed');
});
// Nobody is left to count: a victim must not outlive its harness.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

const parley = await startParley({
  folder,
  env: {},
  clock: Date.now,
  logTo: { write: (line) => appendFileSync(join(folder.path, 'victim.log'), line) },
  pass(passed) {
    if (passed !== point) return;
    passingsLeft -= 1;
    if (passingsLeft === 0) process.kill(process.pid, 'SIGKILL');
  },
});
process.on('SIGTERM', () => void parley.close().then(() => process.exit(0)));
report('ready');
// A killed process writes no cache at its end, and the next ones are to start fast.
module.flushCompileCache();
