import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ReplayReport } from '@parley/agent/replay-outcome';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ModelDouble, startModelDouble } from '../model/index.ts';
import { startParleyInProcess, type TestParley } from './parley-here.ts';
import { type DataFolder, makeDataFolder, runCommand } from './parley-process.ts';
import { createWebClient } from './web-client.ts';

describe('parley eval', () => {
  let model: ModelDouble;
  let folder: DataFolder;
  let parley: TestParley;
  const readCall = { name: 'read', arguments: { path: 'AGENTS.md' } };
  const write = (name: string, text: string) =>
    writeFileSync(join(folder.path, 'workspace', name), text);
  const evaluate = (...args: readonly string[]) =>
    runCommand(['--data', folder.path, 'eval', ...args]);

  beforeAll(async () => {
    model = await startModelDouble();
    model.reply(() => 'Fine.');
    folder = makeDataFolder({
      model: { provider: 'openai-compatible', baseUrl: model.baseUrl, model: 'double' },
      lanes: { collectPauseMs: 50 },
      http: { port: 0 },
    });
    mkdirSync(join(folder.path, 'workspace'));
    write('AGENTS.md', '# Work\nBe brief.\n');
    write('SOUL.md', 'You are kind.\n');
    parley = await startParleyInProcess(folder.path);
    const web = createWebClient(parley);
    model.queue(
      { text: 'I look.', toolCalls: [readCall] },
      'The rule of the house is to be brief.',
    );
    await web.post('What is the rule of the house?');
    await vi.waitFor(async () => expect(await web.history()).toHaveLength(2), 10_000);
    const last = await runCommand([
      '--data',
      folder.path,
      'replay',
      'last',
      '1',
      '--dry-run',
      '--json',
    ]);
    const { turns } = ReplayReport.parse(JSON.parse(last.out));
    const kept = await evaluate('rules', '--keep', turns[0]?.turnId ?? '');
    expect([kept.code, kept.err]).toEqual([0, '']);
    expect(kept.out).toContain(
      'evals/rules.yaml. It contains private text; only owners can read it.',
    );
    expect(kept.out).not.toContain('Since that turn');
  });
  afterAll(async () => {
    await parley.discard();
    await model.close();
    folder.remove();
  });

  it('[G22] runs a kept turn without asking a model, and passes while nothing has changed', async () => {
    const before = model.total;
    const done = await evaluate();
    expect([done.code, done.out]).toEqual([
      0,
      '✓ rules  What is the rule of the house?\n\n1 passed, 0 failed\n',
    ]);
    expect(model.total).toBe(before);
  });

  it('[G22] fails when a file of the agent has changed, until a person accepts the change', async () => {
    write('AGENTS.md', '# Work\nBe very long.\n');
    const changed = await evaluate('rules');
    expect(changed.code).toBe(1);
    expect(changed.out).toContain('The layer agents-file has another text.');
    expect((await evaluate('--accept')).code).toBe(0);
    expect((await evaluate()).code).toBe(0);
  });

  it('[G22] checks the answer of the model with --live, answers its calls from the case, and records the answer', async () => {
    model.queue(
      { text: '', toolCalls: [readCall] },
      'Die Regel ist, dass ich es nicht weiß und du auch nicht.',
    );
    const german = await evaluate('rules', '--live', '--record');
    expect(german.code).toBe(1);
    expect(german.out).toContain('The answer is in German, not in English.');
    expect(JSON.stringify(model.requests.at(-1)?.body)).toContain('Be brief.');
    // The recorded answer now fails without a model as well.
    expect((await evaluate('rules')).out).toContain('in German, not in English');
    model.queue({ text: '', toolCalls: [{ name: 'list', arguments: {} }] });
    const diverged = await evaluate('rules', '--live', '--json');
    expect(JSON.parse(diverged.out).cases[0].problems).toEqual([
      'The model called list with {}, and the case has no result for this call.',
    ]);
  });

  it('[G22] needs neither a database nor a model in CI, and writes a JUnit report', async () => {
    const ci = makeDataFolder({
      model: { provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1', model: 'double' },
    });
    cpSync(join(folder.path, 'workspace'), join(ci.path, 'workspace'), { recursive: true });
    const text = 'message: { channel: telegram, chat: group, user: "7", text: hello }';
    const own = join(ci.path, 'workspace/evals/own.yaml');
    writeFileSync(
      own,
      `${text}\nanswers: [ { text: Hello Bo! } ]\nchecks: [ { contains: "hello" } ]\n`,
    );
    writeFileSync(join(ci.path, 'workspace/evals/broken.yaml'), 'checks: 1');
    writeFileSync(join(ci.path, 'workspace/evals/empty.yaml'), text);
    const report = join(ci.path, 'report.xml');
    const done = await runCommand(['--data', ci.path, 'eval', '--junit', report]);
    expect(done.code).toBe(1);
    expect(done.out).toContain('1 passed, 1 failed, 1 skipped, 1 broken');
    expect(existsSync(join(ci.path, 'parley.db'))).toBe(false);
    const xml = readFileSync(report, 'utf8');
    expect(xml).toContain('tests="4" failures="2" skipped="1"');
    expect(xml).toContain('<testcase classname="parley eval" name="own"');
    ci.remove();
  });

  it('[G22] explains wrong use', async () => {
    const expectError = async (args: readonly string[], text: string) => {
      const { code, err } = await evaluate(...args);
      expect(code).not.toBe(0);
      expect(err).toContain(text);
    };
    await expectError(['nowhere'], 'There is no case nowhere in');
    await expectError(['--record'], 'they need --live');
    await expectError(['--keep', 'x'], 'needs one name');
    await expectError(['again', '--keep', 'turn_x'], 'No turn turn_x is recorded.');
  });
});
