import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A start that takes longer has failed, and the first one fills the cache itself. */
const WITHIN_MS = 20_000;
/** Nothing listens at this port: the library of Telegram is loaded, and reaches nobody. */
const SETTINGS = {
  model: 'offline',
  http: { port: 0 },
  channels: { telegram: { token: '1:none', apiRoot: 'http://127.0.0.1:9' } },
};

/**
 * Starts the program once and ends it, on a data folder of its own: Node then keeps what it compiled
 * beside the bundle, so that the first start is as fast as those after it.
 */
export async function fillCache(root: string): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), 'parley-build-'));
  writeFileSync(join(data, 'parley.yaml'), JSON.stringify(SETTINGS));
  const args = ['--max-semi-space-size=4', join(root, 'apps/parley/bin/parley.js')];
  const child = spawn(process.execPath, [...args, '--data', data, 'start'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: WITHIN_MS,
    killSignal: 'SIGKILL',
  });
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (text.includes('Stop with Ctrl-C')) child.kill('SIGTERM');
  });
  await once(child, 'close');
  rmSync(data, { recursive: true, force: true });
}
