import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isDueToday } from '@parley/core/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ModelDouble, startModelDouble } from '../model/index.ts';
import { findFreePort } from '../services/free-port.ts';
import { startParleyInProcess, type TestParley } from './parley-here.ts';
import { type DataFolder, makeDataFolder, startParleyProcess } from './parley-process.ts';

const PROGRAM = resolve(import.meta.dirname, '../../apps/parley/bin/parley.js');

interface Said {
  readonly code: number | string;
  readonly out: string;
  readonly err: string;
}

/** `parley chat` with piped input. */
function chat(
  data: string,
  input: string,
  flags: readonly string[] = [],
): { process: ChildProcess; said: Promise<Said> } {
  const args = [PROGRAM, '--data', data, 'chat', ...flags];
  const child = spawn(process.execPath, args, { stdio: 'pipe' });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  child.stdin.end(input);
  const said = once(child, 'close').then(([code, signal]) => ({ code: signal ?? code, out, err }));
  return { process: child, said };
}

describe('parley chat with piped input', () => {
  let model: ModelDouble;
  let folder: DataFolder;
  beforeAll(async () => {
    model = await startModelDouble();
    model.reply(({ messages }) => {
      const text = String(messages.at(-1)?.content);
      return `**You** said: ${text.slice(text.lastIndexOf('\n\n') + 2)}`;
    });
    folder = makeDataFolder({
      model: { provider: 'openai-compatible', baseUrl: model.baseUrl, model: 'double' },
      http: { port: await findFreePort() },
      agents: { desk: { name: 'Help desk' } },
    });
  });
  afterAll(async () => {
    await model.close();
    folder.remove();
  });

  it('[F03] starts its own gateway, prints only the answer as plain text, and stops the gateway', async () => {
    const said = await chat(folder.path, 'hello\n').said;
    expect(said).toEqual({ code: 0, out: 'You said: hello\n', err: '' });
    expect(existsSync(join(folder.path, 'gateway.json'))).toBe(false);
    expect(readFileSync(join(folder.path, 'parley.log'), 'utf8')).toContain('"msg":"turn"');
  });

  describe('parley chat while a gateway is running', () => {
    let gateway: TestParley;
    beforeAll(async () => {
      gateway = await startParleyInProcess(folder.path);
    });
    afterAll(() => gateway.discard());

    it('[F03] [F09] uses the running gateway without stopping it, and answers a command without the model', async () => {
      const asked = model.total;
      const both = await Promise.all(
        ['first', '/whoami'].map((text) => chat(folder.path, text).said),
      );
      expect(both.map(({ code }) => code)).toEqual([0, 0]);
      expect(both.map(({ out }) => out)).toEqual([
        'You said: first\n',
        expect.stringContaining('terminal:owner'),
      ]);
      expect(model.total).toBe(asked + 1);
      expect((await fetch(`${gateway.address}/healthz`)).status).toBe(200);
    });

    it('[F03] [F14] sends several lines as one message to the named agent', async () => {
      const said = await chat(folder.path, 'one\ntwo\nthree\n', ['--agent', 'desk']).said;
      expect(said.out).toBe('You said: one\ntwo\nthree\n');
      const asked = JSON.stringify(model.requests.at(-1)?.body.messages);
      expect(asked).toContain('Help desk');
      expect(asked).not.toContain('hello');
    });

    it('sends nothing for empty input', async () => {
      expect(await chat(folder.path, ' \n').said).toEqual({ code: 0, out: '', err: '' });
    });

    // Each of the two cases starts a program, so a normal run includes only one of them.
    if (isDueToday(0, 2))
      it('[U03] removes terminal control sequences from an answer', async () => {
        model.queue('safe\u001b[2J\u001b]0;owned\u0007 text');
        expect((await chat(folder.path, 'hi').said).out).toBe('safe text\n');
      });

    if (isDueToday(1, 2))
      it('[F10] exits with an error that explains why a message is refused', async () => {
        const said = await chat(folder.path, 'x'.repeat(200_000)).said;
        expect([said.code, said.out]).toEqual([1, '']);
        expect(said.err).toMatch(/not accepted: longer than \d+ characters/);
      });

    it('[U11] reports a failed turn by the exit code, and keeps the notice off standard output', async () => {
      model.fault({ kind: 'status', status: 401 });
      const said = await chat(folder.path, 'will this work?').said;
      expect([said.code, said.out]).toEqual([1, '']);
      expect(said.err).toMatch(/key/i);
    });
  });

  it('[D01] gets the answer once from a gateway that is killed and restarted', async () => {
    const killed = await startParleyProcess(folder.path);
    model.latencyMs = 1_000;
    const asking = chat(folder.path, 'still there?');
    const asked = model.total;
    await vi.waitFor(() => expect(model.total).toBeGreaterThan(asked), 30_000);
    await killed.end('SIGKILL');
    model.latencyMs = 0;
    const gateway = await startParleyInProcess(folder.path);
    expect(await asking.said).toEqual({
      ...{ code: 0, out: 'You said: still there?\n' },
      // The line is printed after a few seconds, because a start may take that long on a busy
      // machine.
      err: expect.stringMatching(/^(?:Waiting for the answer\. .*\n)?$/),
    });
    await gateway.end();
  });

  it('[D11] stops on Ctrl-C while waiting, together with the gateway it started', async () => {
    model.latencyMs = 20_000;
    const asked = model.total;
    const asking = chat(folder.path, 'never mind');
    await vi.waitFor(() => expect(model.total).toBeGreaterThan(asked), 30_000);
    asking.process.kill('SIGINT');
    const said = await asking.said;
    expect([said.code, said.out]).toEqual([130, '']);
    expect(existsSync(join(folder.path, 'gateway.json'))).toBe(false);
    model.latencyMs = 0;
  });
});
