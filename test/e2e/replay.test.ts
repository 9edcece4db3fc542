import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ReplayOutcome, ReplayReport } from '@parley/agent/replay-outcome';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ModelDouble, startModelDouble } from '../model/index.ts';
import { startParleyInProcess, type TestParley } from './parley-here.ts';
import { type DataFolder, makeDataFolder, runCommand } from './parley-process.ts';
import { createWebClient, type WebClient } from './web-client.ts';

describe('parley replay', () => {
  let model: ModelDouble;
  let folder: DataFolder;
  let parley: TestParley;
  let web: WebClient;
  beforeAll(async () => {
    model = await startModelDouble();
    model.reply(() => 'Fine.');
    folder = makeDataFolder({
      model: {
        ...{ provider: 'openai-compatible', baseUrl: model.baseUrl, model: 'double' },
        price: { inputPerMillion: 1, outputPerMillion: 5 },
        choices: ['other'],
      },
      lanes: { collectPauseMs: 50 },
      http: { port: 0 },
    });
    const workspace = join(folder.path, 'workspace');
    mkdirSync(workspace);
    writeFileSync(join(workspace, 'AGENTS.md'), '# Work\nBe brief.\n');
    writeFileSync(join(workspace, 'SOUL.md'), 'You are kind.\n');
    parley = await startParleyInProcess(folder.path);
    web = createWebClient(parley);
    await ask('What is on today?');
    model.queue({
      text: 'I look.',
      toolCalls: [{ name: 'read', arguments: { path: 'AGENTS.md' } }],
    });
    await ask('What are the rules?');
    await ask('Thank you.');
  });
  afterAll(async () => {
    await parley.discard();
    await model.close();
    folder.remove();
  });

  async function ask(text: string): Promise<void> {
    const before = (await web.history()).length;
    await web.post(text);
    await vi.waitFor(async () => expect(await web.history()).toHaveLength(before + 2), 10_000);
  }

  const replay = (...args: readonly string[]) =>
    runCommand(['--data', folder.path, 'replay', ...args]);
  const report = async (...args: readonly string[]) =>
    ReplayReport.parse(JSON.parse((await replay(...args, '--json')).out));

  /** The contents of the workspace and the settings, as one hash. */
  function hashFiles(): string {
    const hash = createHash('sha256');
    for (const name of readdirSync(join(folder.path, 'workspace'), {
      recursive: true,
    }).toSorted()) {
      const path = join(folder.path, 'workspace', String(name));
      hash.update(String(name));
      if (statSync(path).isFile()) hash.update(readFileSync(path));
    }
    return hash.digest('hex');
  }

  it('[G22] builds the requests of the last turns again while Parley runs, and changes nothing', async () => {
    const [files, requests] = [hashFiles(), model.total];
    const done = await replay('last', '20', '--dry-run', '--json');
    expect(done.err).toBe('');
    const found = ReplayReport.parse(JSON.parse(done.out));
    expect(found).toMatchObject({ same: 3, changed: 0, diverged: 0, incomplete: 0, failed: 0 });
    expect(found.turns.map(({ question }) => question)).toEqual([
      'Thank you.',
      'What are the rules?',
      'What is on today?',
    ]);
    expect(done.code).toBe(0);
    expect([hashFiles(), model.total]).toEqual([files, requests]);
  });

  it('[G22] asks the model again with the very bytes it was asked with, tools answered from the record', async () => {
    const before = model.requests.map(({ body }) => JSON.stringify(body)).slice(1, 3);
    model.queue({
      text: 'I look.',
      toolCalls: [{ name: 'read', arguments: { path: 'AGENTS.md' } }],
    });
    const [, turn] = (await report('last', '3', '--dry-run')).turns;
    const found = await report(turn?.turnId ?? '');
    expect(found.turns[0]?.kind).toBe('same');
    expect(model.requests.slice(-2).map(({ body }) => JSON.stringify(body))).toEqual(before);
  });

  it('[G22] shows side by side what another model does, and charges its answer', async () => {
    const [last] = (await report('last', '1', '--dry-run')).turns;
    model.queue('You are very welcome.');
    const done = await replay(last?.turnId ?? '', '--model', 'other');
    expect(done.code).toBe(1);
    expect(done.out).toContain('outcome   changed');
    expect(done.out).toMatch(/RECORDED +│ REPLAYED/);
    expect(done.out).toContain('openai-compatible/other');
    expect(done.out).toMatch(/Fine\. +│ You are very welcome\./);
    expect(model.requests.at(-1)?.body.model).toBe('other');
    const usage = await runCommand(['--data', folder.path, 'usage', '--json']);
    expect(JSON.parse(usage.out).outside.inputTokens).toBeGreaterThan(0);
  });

  it('[G22] ends as diverged at a call that the record cannot answer, unless a reading tool may answer it', async () => {
    const [last] = (await report('last', '1', '--dry-run')).turns;
    const call = { toolCalls: [{ name: 'read', arguments: { path: 'SOUL.md' } }] };
    model.queue(call);
    const diverged = await report(last?.turnId ?? '');
    expect(diverged.turns[0]).toMatchObject({ kind: 'diverged', call: { name: 'read' } });
    model.queue(call, 'Kind, I read.');
    const live = await report(last?.turnId ?? '', '--live-reads');
    expect(live.turns[0]).toMatchObject({ kind: 'changed', after: { text: 'Kind, I read.' } });
    expect(JSON.stringify(model.requests.at(-1)?.body)).toContain('You are kind.');
  });

  it('[G22] changes only the layer of a replaced file', async () => {
    const path = join(folder.path, 'new.md');
    writeFileSync(path, 'You are stern.\n');
    const found = await report('last', '1', '--dry-run', '--file', `SOUL.md=${path}`);
    const [turn] = found.turns;
    expect(turn).toMatchObject({ kind: 'changed' });
    expect(turn !== undefined && 'changes' in turn ? turn.changes : []).toEqual([
      {
        kind: 'request',
        part: 'layer soul-file',
        before: expect.stringContaining('You are kind.'),
        after: expect.stringContaining('You are stern.'),
      },
    ]);
    model.queue('So be it.');
    await replay('last', '1', '--file', `SOUL.md=${path}`);
    expect(JSON.stringify(model.requests.at(-1)?.body)).toContain('You are stern.');
  });

  it('[G22] takes another profile for layers and tools, and keeps what the two agree on', async () => {
    const [turn] = (await report('last', '1', '--dry-run', '--profile', 'zeus')).turns;
    const changes = turn !== undefined && 'changes' in turn ? turn.changes : [];
    const parts = changes.flatMap((change) => (change.kind === 'request' ? [change.part] : []));
    expect(parts).toContain('layer soul-file');
    expect(parts).not.toContain('layer safety');
  });

  it('[G17] [G22] asks no model once the daily cap is reached', async () => {
    const settings: unknown = JSON.parse(readFileSync(join(folder.path, 'parley.yaml'), 'utf8'));
    const capped = join(folder.path, 'capped.yaml');
    const spend = { totalDaily: { tokens: 1 } };
    writeFileSync(capped, JSON.stringify({ ...Object(settings), spend }));
    const asked = model.total;
    const done = await runCommand([
      ...['--data', folder.path, '--config', capped],
      ...['replay', 'last', '1', '--json'],
    ]);
    const [turn] = ReplayReport.parse(JSON.parse(done.out)).turns;
    expect(turn).toMatchObject({ kind: 'failed', code: 'spend-cap' });
    expect([done.code, model.total]).toEqual([1, asked]);
  });

  it('[G22] runs another version on a copy of the database', { timeout: 60_000 }, async () => {
    const release = join(import.meta.dirname, '../..');
    const done = await replay('last', '2', '--dry-run', '--release', release, '--json');
    expect(done.err).toBe('');
    expect(ReplayReport.parse(JSON.parse(done.out))).toMatchObject({ same: 2 });
    const wrong = await replay('last', '2', '--release', folder.path);
    expect(wrong.err).toContain('There is no Parley in');
  });

  it('[G22] is an operation for owners, with a deadline', async () => {
    const [last] = (await report('last', '1', '--dry-run')).turns;
    const post = (body: object) =>
      fetch(`${parley.address}/api/replay/turn`, {
        method: 'POST',
        headers: { authorization: `Bearer ${parley.token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const turn = last?.turnId ?? '';
    model.queue('Gladly.');
    const answered = await post({ turn, files: { 'SOUL.md': 'You are brief.' } });
    const outcome = ReplayOutcome.parse(await answered.json());
    expect(outcome).toMatchObject({ kind: 'changed', after: { text: 'Gladly.' } });
    expect((await post({ turn: 'turn_none' })).status).toBe(400);
  });

  it('[G22] names what it cannot replay, and what can be done', async () => {
    const none = await replay('turn_none');
    expect(none.code).toBe(1);
    expect(none.err).toContain('No recorded turn and no chat is called "turn_none"');
    expect((await replay('last', '--file', 'SOUL.md')).code).toBe(2);
    expect((await replay('somewhere', '3')).code).toBe(2);
    expect((await replay('last', '--profile', 'nobody')).err).toContain('nobody');
  });
});
