import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { locateDataFolder } from '../data-folder.ts';
import { runHeartbeatNow } from './schedule.ts';

/**
 * The simulated duration (ms) of a task check, which is longer than the CLI waits for other
 * answers.
 */
const CHECK_MS = 5_500;

it('[H02] parley heartbeat now waits for task checks that take longer than other requests', async () => {
  const gateway = createServer((request, response) => {
    request.resume();
    setTimeout(() => response.end('{"task":"mail","text":"mail is starting."}'), CHECK_MS);
  });
  await once(gateway.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void gateway.close());
  const address = gateway.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const path = mkdtempSync(join(tmpdir(), 'parley-heartbeat-now-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  const instance = { pid: process.pid, address: `http://127.0.0.1:${port}` };
  writeFileSync(join(path, 'gateway.json'), JSON.stringify(instance));
  const printed: string[] = [];
  const print = (text: string) => void printed.push(text);
  expect(await runHeartbeatNow({ folder: locateDataFolder(path, {}), env: {}, print }, '')).toBe(0);
  expect(printed).toEqual(['mail is starting.']);
});
