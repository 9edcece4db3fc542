import { appendFileSync } from 'node:fs';
import module from 'node:module';
import v8 from 'node:v8';
import { locateDataFolder, startParley } from '@parley/cli';
import { systemTime } from '@parley/core';

// Parley as `parley start` composes it, except that it records the processor time of this process
// at each point of the durable path, and reports it on request.

const [data = '', log = ''] = process.argv.slice(2);
module.enableCompileCache();
v8.setFlagsFromString('--heap-growing-percent=90');

const passed: Record<string, { us: number; passings: number }> = {};
let last = process.cpuUsage();
const tell = (result: unknown) => process.send?.({ result });

const parley = await startParley({
  folder: locateDataFolder(data, {}),
  env: {},
  ...systemTime,
  logTo: { write: (line) => appendFileSync(log, line) },
  checkpoint: notePoint,
});
process.on('message', (order: { kind: 'begin' | 'read' }) => {
  if (order.kind === 'begin') {
    for (const point of Object.keys(passed)) delete passed[point];
    last = process.cpuUsage();
  }
  tell(passed);
});
process.on('disconnect', () => void parley.close().then(() => process.exit()));
tell('ready');

function notePoint(point: string): void {
  const { user, system } = process.cpuUsage(last);
  last = process.cpuUsage();
  const so = passed[point] ?? { us: 0, passings: 0 };
  passed[point] = { us: so.us + user + system, passings: so.passings + 1 };
}
