import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { isDueToday } from '@parley/core/testing';
import { startTelegramDouble } from '@parley/simulators/telegram';
import { afterEach, describe, expect, it } from 'vitest';
import { startParleyInProcess, type TestParley } from './parley-here.ts';
import {
  type CommandResult,
  type DataFolder,
  makeDataFolder,
  type ParleyProcess,
  runCommand,
  runParley,
  startParleyProcess,
  writeSettings,
} from './parley-process.ts';
import { createWebClient } from './web-client.ts';

/** The test does not contact anything outside: it uses the offline model and any free port. */
const QUIET = { model: 'offline', http: { port: 0 } };

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const undo of cleanUp.splice(0).reverse()) await undo();
});

function folderWith(settings: object): DataFolder {
  const folder = makeDataFolder(settings);
  cleanUp.push(() => folder.remove());
  return folder;
}

async function started(folder: DataFolder): Promise<TestParley> {
  const parley = await startParleyInProcess(folder.path);
  cleanUp.push(() => parley.discard());
  return parley;
}

async function startedApart(folder: DataFolder): Promise<ParleyProcess> {
  const parley = await startParleyProcess(folder.path);
  cleanUp.push(() => parley.end('SIGKILL'));
  return parley;
}

function expectOrderly(ended: CommandResult): void {
  expect(ended).toMatchObject({ code: 0, out: expect.stringContaining('Nothing was lost') });
  expect(ended.ms).toBeLessThan(10_000);
}

describe('parley start', () => {
  it('[U01] [D11] prints the model, the chat address and the next step, answers, and exits on SIGTERM with code 0 within 10 s', async () => {
    const folder = folderWith(QUIET);
    const parley = await startedApart(folder);
    expect(parley.out()).toContain('Model     offline – the settings ask for the offline model');
    expect(parley.out()).toContain('web: connected');
    expect(parley.out()).toContain(`npm run parley -- chat --data ${folder.path}`);
    expect(parley.out()).toContain('connect a model and a channel');
    const web = createWebClient(parley);
    expect((await web.post('hello')).status).toBe(200);
    await expect.poll(web.history).toHaveLength(2);
    expectOrderly(await parley.end('SIGTERM'));
  });

  it('[D10] reports health without a token, but requires one for metrics', async () => {
    const parley = await started(folderWith(QUIET));
    const open = (path: string) => fetch(`${parley.address}${path}`);
    expect((await open('/healthz')).status).toBe(200);
    expect((await open('/readyz')).status).toBe(200);
    expect((await open('/metrics')).status).toBe(401);
    const web = createWebClient(parley);
    await web.post('count me');
    await expect
      .poll(async () => (await web.get('/metrics')).body)
      .toMatch(/parley_turn_seconds_count\{outcome="answered"\} 1/);
  });

  it('prints an address that a browser can open if the gateway listens on all addresses', async () => {
    const parley = await started(folderWith({ ...QUIET, http: { host: '0.0.0.0', port: 0 } }));
    expect(parley.address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect((await fetch(`${parley.address}/healthz`)).status).toBe(200);
  });

  // SIGTERM is tested above and has the same handler.
  it.each((['SIGINT', 'SIGHUP'] as const).filter((_, nth) => isDueToday(nth, 2)))(
    '[D11] exits on %s with code 0 within 10 s',
    async (signal) => {
      expectOrderly(await (await startedApart(folderWith(QUIET))).end(signal));
    },
  );

  it('refuses a folder used by another Parley without disturbing it, and starts immediately after a kill -9', async () => {
    const folder = folderWith(QUIET);
    const parley = await startedApart(folder);
    const second = await runCommand(['--data', folder.path, 'start']);
    expect(second.code).toBe(1);
    expect(second.err).toContain(`Another Parley is running on ${folder.path}`);
    expect(second.err).toContain(`process ${parley.pid} at ${parley.address}`);
    expect((await fetch(`${parley.address}/healthz`)).status).toBe(200);
    await parley.end('SIGKILL');
    const left = await runCommand(['--data', folder.path, 'status']);
    expect(left.code, 'the status is not fooled by what was left behind').toBe(3);
    await started(folder);
  });

  it('names the process that uses the port, says what to do, and exits', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    cleanUp.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    const folder = folderWith({ ...QUIET, http: { port } });
    const taken = `Port ${port} on 127.0.0.1 is used by another program`;
    await expect(started(folder)).rejects.toThrow(taken);
  });

  it('[D12] refuses invalid settings and names the path, the value and the expected value', async () => {
    const folder = folderWith({ ...QUIET, limits: { messageCharacters: 'many' }, agnet: {} });
    const ended = await runParley(['--data', folder.path, 'start']);
    expect(ended.code).toBe(1);
    expect(ended.err).toContain('limits.messageCharacters');
    expect(ended.err).toContain('many');
    expect(ended.err).not.toContain('    at ');
  });

  it('reports an unwritable folder without a stack trace', async () => {
    const folder = folderWith(QUIET);
    writeFileSync(join(folder.path, 'file'), '');
    const ended = await runCommand(['--data', join(folder.path, 'file', 'inside'), 'start']);
    expect(ended.code).toBe(1);
    expect(ended.err).toMatch(/^\nParley cannot write to its data folder .*--data FOLDER\.\n$/);
  });

  it('[D12] serves the web page while the Telegram token is rejected, and reports the rejection', async () => {
    const telegram = await startTelegramDouble();
    cleanUp.push(() => telegram.close());
    const { apiRoot } = telegram;
    const folder = folderWith({ ...QUIET, channels: { telegram: { token: '1:wrong', apiRoot } } });
    const parley = await started(folder);
    const web = createWebClient(parley);
    await web.post('hello');
    await expect.poll(web.history).toHaveLength(2);
    const look = () => runCommand(['--data', folder.path, 'status']);
    await expect.poll(async () => (await look()).out).toContain('401');
    const status = await look();
    expect(status.code).toBe(1);
    expect(status.out).toContain('channel   telegram/default: not working');
    expect(status.out).toContain('channels.telegram.token');
    expect(status.out).toContain('channel   web/default: connected');
    expect(`${parley.out()}${parley.err()}`).not.toContain('1:wrong');
  });

  it('[D12] runs without a channel that has invalid settings, and names the channel', async () => {
    const folder = folderWith({ ...QUIET, channels: { telegram: { token: 'not a token' } } });
    const parley = await started(folder);
    expect(parley.out()).toContain('telegram: not working');
    expect(parley.out()).toContain('token must');
  });
});

describe('parley status', () => {
  it('reports that no process is running, with its own exit code', async () => {
    const folder = folderWith(QUIET);
    const ended = await runCommand(['--data', folder.path, 'status']);
    expect(ended.code).toBe(3);
    expect(ended.out).toContain(`npm run parley -- start --data ${folder.path}`);
    expect(existsSync(join(folder.path, 'lock'))).toBe(false);
  });

  it('[D10] reports channels, turns and the outbox of a running process', async () => {
    const folder = folderWith(QUIET);
    const web = createWebClient(await started(folder));
    await web.post('hello');
    await expect.poll(web.history).toHaveLength(2);
    const ended = await runCommand(['--data', folder.path, 'status']);
    expect(ended.code).toBe(0);
    expect(ended.out).toContain('last 24 h 1 answered, 0 failed, 0 stopped');
    expect(ended.out).toContain('outbox    0 waiting, 1 sent, 0 uncertain, 0 failed');
  });
});

describe('parley config check', () => {
  it('[D12] accepts valid settings', async () => {
    const folder = folderWith(QUIET);
    const ended = await runCommand(['--data', folder.path, 'config', 'check']);
    expect(ended).toMatchObject({ code: 0, out: `${folder.path}/parley.yaml is fine.\n` });
  });

  it('[D12] reports every problem, and suggests the key that was probably intended', async () => {
    const folder = folderWith(QUIET);
    writeSettings(folder.path, {
      http: { port: 99_999 },
      lanes: { busy: 'colect' },
      modle: 'auto',
    });
    const ended = await runCommand(['--data', folder.path, 'config', 'check']);
    expect(ended.code).toBe(1);
    for (const word of ['http.port', 'lanes.busy', 'collect', 'modle', 'model', '2 problems']) {
      expect(ended.out).toContain(word);
    }
  });

  it('[D12] reports a channel that would be left out', async () => {
    const folder = folderWith({ channels: { telegram: { token: 'x' } } });
    const ended = await runCommand(['--data', folder.path, 'config', 'check']);
    expect(ended.code).toBe(1);
    expect(ended.out).toContain('but without telegram/default');
  });

  it('[D12] reports a missing settings file', async () => {
    const ended = await runCommand(['--config', '/nowhere/parley.yaml', 'config', 'check']);
    expect(ended.code).toBe(1);
    expect(ended.err).toContain('There is no settings file /nowhere/parley.yaml');
  });
});
