import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { runIsolated } from './release-process.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'parley-isolation-'));
  for (const name of ['release/apps/parley/bin', 'copy', 'data'])
    mkdirSync(join(root, name), { recursive: true });
  writeFileSync(join(root, 'copy/parley.yaml'), '{}');
  writeFileSync(join(root, 'data/secret'), 'the key');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Runs statements as if they were a release; they print JSON. */
async function run(statements: string): Promise<unknown> {
  writeFileSync(
    join(root, 'release/apps/parley/bin/parley.js'),
    `const fs = require('node:fs'); const net = require('node:net');
     const path = ${JSON.stringify(join(root, 'data/secret'))};
     const say = (value) => console.log(JSON.stringify(value));
     const attempt = (call) => { try { return call(); } catch (error) { return error.code; } };
     ${statements}`,
  );
  const release = { root: join(root, 'release'), version: '0.2.0' };
  const { out, err } = await runIsolated({ release, copy: join(root, 'copy') }, [], 20_000);
  if (err !== '') throw new Error(err);
  return JSON.parse(out);
}

describe('a release in a rehearsal', () => {
  it('[D18] can neither read nor change the data folder, and works in its copy', async () => {
    const found = await run(`say([
      attempt(() => fs.readFileSync(path, 'utf8')),
      attempt(() => fs.writeFileSync(path, 'changed')),
      attempt(() => fs.rmSync(path)),
      attempt(() => new (require('node:sqlite').DatabaseSync)(path) && 'opened'),
      attempt(() => new (require('node:sqlite').DatabaseSync)(process.env.HOME + '/db') && 'opened'),
      fs.existsSync(path),
      attempt(() => fs.writeFileSync(process.env.HOME + '/own', 'x')),
      fs.readFileSync(process.env.HOME + '/own', 'utf8'),
    ])`);
    expect(found).toEqual(['ENOENT', 'EACCES', 'ENOENT', 'EACCES', 'opened', false, null, 'x']);
    expect(readFileSync(join(root, 'data/secret'), 'utf8')).toBe('the key');
  });

  it('[D18] starts no program, and sees no variable of the installation', async () => {
    process.env.PARLEY_TEST_KEY = 'the key';
    onTestFinished(() => void delete process.env.PARLEY_TEST_KEY);
    const found = await run(
      `say([attempt(() => require('node:child_process').execFileSync('true')), Object.keys(process.env).sort()])`,
    );
    const [code, names] = found as [string, string[]];
    expect(code).toBe('ERR_ACCESS_DENIED');
    expect(names).not.toContain('PARLEY_TEST_KEY');
  });

  it('[D18] connects only to this machine', async () => {
    const server = createServer((socket) => socket.end('here')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const found = await run(`
      const ask = (...to) => new Promise((resolve) => {
        const socket = net.connect(...to);
        socket.on('data', (data) => resolve(String(data))).on('error', (error) => resolve(error.message));
      });
      (async () => say([
        await ask(${port}, '127.0.0.1'),
        await ask({ port: 443, host: '192.0.2.1' }),
        await ask('/var/run/docker.sock'),
        await fetch('https://example.org').catch((error) => error.cause.message),
        await require('node:dns').promises.resolve('example.org').catch((error) => error.message),
        attempt(() => require('node:dgram').createSocket('udp4')),
      ]))();`);
    expect(found).toEqual([
      'here',
      'a rehearsal does not connect to 192.0.2.1',
      'a rehearsal does not connect to /var/run/docker.sock',
      'a rehearsal does not connect to example.org',
      'a rehearsal does not connect to a name server',
      'ECONNREFUSED',
    ]);
  });

  it('[D18] is ended at its deadline', async () => {
    writeFileSync(join(root, 'release/apps/parley/bin/parley.js'), 'setInterval(() => {}, 1000)');
    const release = { root: join(root, 'release'), version: '0.2.0' };
    const { code } = await runIsolated({ release, copy: join(root, 'copy') }, [], 1_000);
    expect(code).toBeNull();
    expect(existsSync(join(root, 'copy/parley.yaml'))).toBe(true);
  });
});
