import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCheckRunner } from '@parley/core';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listCases, readCase, writeCase } from './case-files.ts';
import { type CheckedAnswer, runChecks } from './check-answer.ts';
import { type AnswerCheck, EvalCase, formatCase, parseCase } from './eval-case.ts';

const checks = createCheckRunner({ idleMs: 1 });
const { signal } = new AbortController();

const answer = (text: string, ...calls: CheckedAnswer['calls']): CheckedAnswer => ({
  ...{ text, isSilent: text === '', calls },
});
const read = { name: 'read', arguments: '{"path":"a.md","limit":3}' };
const write = { name: 'write', arguments: '{}' };

const PASSING: readonly (readonly [AnswerCheck, CheckedAnswer])[] = [
  [{ contains: 'green  BOAT' }, answer('The green boat')],
  [{ lacks: 'red' }, answer('The green boat')],
  [{ schema: { type: 'object', required: ['a'] } }, answer('{"a":1}')],
  [{ calls: 'read' }, answer('', read)],
  [{ calls: 'read', with: { path: 'a.md' } }, answer('', write, read)],
  [{ neverCalls: 'write' }, answer('', read)],
  [{ order: ['read', 'write'] }, answer('', read, read, write)],
  [{ silent: true }, answer('')],
  [{ language: 'german' }, answer('Das ist nicht mein Boot, und ich weiß es auch nicht.')],
  [{ length: { min: 2, max: 4 } }, answer('boat')],
];

const FAILING: readonly (readonly [AnswerCheck, CheckedAnswer, string])[] = [
  [{ contains: 'boat' }, answer('car'), 'The answer does not contain "boat".'],
  [{ lacks: 'boat' }, answer('A BOAT'), 'The answer contains "boat".'],
  [{ schema: { type: 'object' } }, answer('no'), 'The answer does not match the schema:'],
  [{ calls: 'read' }, answer('', write), 'The agent did not call read.'],
  [{ calls: 'read', with: { path: 'b.md' } }, answer('', read), 'but with other arguments.'],
  [{ neverCalls: 'read' }, answer('', read), 'The agent called read.'],
  [{ order: ['write', 'read'] }, answer('', read, write), 'The calls were read, write, not'],
  [{ silent: true }, answer('hello'), 'answered instead of staying silent.'],
  [{ silent: false }, answer(''), 'The agent stayed silent.'],
  [{ language: 'German' }, answer('This is not the boat that you want.'), 'is in English, not'],
  [{ length: { max: 3 } }, answer('boat'), 'The answer has 4 characters.'],
  [{ judge: 'It is kind.' }, answer('Go away.'), 'it is rude'],
];

describe('a check of an answer', () => {
  const judge = async () => 'it is rude';

  it.each(PASSING)('[G22] passes: %j', async (check, given) => {
    expect(await runChecks([check], given, { checks }, signal)).toEqual([
      { check, outcome: 'passed' },
    ]);
  });

  it.each(FAILING)('[G22] fails with a reason: %j', async (check, given, reason) => {
    expect(await runChecks([check], given, { checks, judge }, signal)).toMatchObject([
      { check, outcome: 'failed', reason: expect.stringContaining(reason) },
    ]);
  });

  it('[G22] is skipped if it needs a judge and no model may be asked', async () => {
    const [result] = await runChecks([{ judge: 'kind' }], answer('hi'), { checks }, signal);
    expect(result).toMatchObject({ outcome: 'skipped', reason: expect.stringContaining('--live') });
  });
});

describe('a case file', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'parley-cases-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const value = EvalCase.parse({ message: { channel: 'terminal', text: 'hello' } });

  it('[G22] is written for the operator only, listed and read back', async () => {
    const path = await writeCase(folder, 'hello', value, { replace: false });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await listCases(folder)).toEqual(['hello']);
    expect(await readCase(folder, 'hello')).toEqual({
      name: 'hello',
      parsed: { kind: 'case', value },
    });
    await expect(writeCase(folder, 'hello', value, { replace: false })).rejects.toMatchObject({
      code: 'eval-exists',
    });
  });

  it.each(['../x', 'a/b', '', '.x', 'x'.repeat(90)])(
    '[G22] cannot have a name that leads elsewhere: %j',
    async (name) => {
      await expect(writeCase(folder, name, value, { replace: true })).rejects.toMatchObject({
        code: 'eval-name',
      });
      await expect(readCase(folder, name)).rejects.toMatchObject({ code: 'eval-name' });
    },
  );

  it('[G22] keeps any text and arguments unchanged', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 200 });
    fc.assert(
      fc.property(text, fc.jsonValue(), text, (said, json, result) => {
        const call = { name: 'read', arguments: JSON.stringify(json) };
        const written: EvalCase = {
          ...value,
          message: { channel: 'terminal', text: said },
          results: [{ ...call, result, failed: false }],
          answers: [{ text: result, calls: [call] }],
        };
        expect(parseCase(formatCase(written))).toEqual({ kind: 'case', value: written });
      }),
    );
  });

  it.each([
    ['message: {', 'It is not valid YAML'],
    ['checks: []', 'The case must have `message`'],
    [
      'message: { channel: t, text: a }\nchecks: [ { contain: a } ]',
      'checks.0: it is none of the known checks, which are contains, lacks, schema',
    ],
    ['message: { channel: t, text: a }\ntypo: 1', 'Unrecognized key'],
    ['a: &x [1]\nb: [*x]', 'Alias resolution is disabled'],
  ])('[G22] that is broken says where: %j', (text, problem) => {
    const parsed = parseCase(text);
    expect(parsed).toMatchObject({ kind: 'broken' });
    expect(JSON.stringify(parsed)).toContain(problem);
  });

  it('[G22] shows each layer of its outline on one line', async () => {
    const layer = { layer: 'safety', placement: 'system', audience: 'everyone' } as const;
    const prompt = {
      ...{ layout: 'parley', limits: {}, tools: [] },
      layers: [{ ...layer, stable: true, text: 'x' }],
    };
    const path = await writeCase(folder, 'outline', { ...value, prompt }, { replace: false });
    expect(readFileSync(path, 'utf8')).toContain(
      '- { layer: safety, placement: system, audience: everyone, stable: true, text: x }',
    );
  });
});
