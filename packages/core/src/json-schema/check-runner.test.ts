import { describe, expect, it } from 'vitest';
import {
  HOSTILE_PATTERNS,
  HOSTILE_SCHEMAS,
  type HostileSchema,
  SLOW_PATTERN,
  SLOW_SCHEMAS,
} from '../testing/hostile-schemas.ts';
import { isDueToday, isFullRun, scaleRunCount } from '../testing/test-length.ts';
import { ResponseFormat } from './answer-check.ts';
import { CheckError, createCheckRunner } from './check-runner.ts';
import { findPatternRisk } from './pattern-risk.ts';
import { measureSchema } from './schema-risk.ts';

/** More slow checks than may run concurrently, queued before a fast check. */
const SLOW_AHEAD = isFullRun() ? 10 : 3;

const named = (all: readonly HostileSchema[]) => all.map((one) => [one.what, one] as const);

/** Counts the iterations of the event loop while the work runs. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 10);
  await work.catch(() => {});
  clearInterval(timer);
  return turns;
}

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: unknown) => (error instanceof CheckError ? error.code : error),
  );

describe('a third-party JSON Schema', () => {
  it.each(named(HOSTILE_SCHEMAS))('[D13] is refused on arrival: %s', (_what, { schema }) => {
    const { success, error } = ResponseFormat.safeParse(schema);
    expect(success).toBe(false);
    expect(error?.issues[0]?.message).toMatch(/^json, or a JSON Schema that can be checked \(/);
    expect(() => measureSchema(schema)).toThrow();
  });

  it.each(named(SLOW_SCHEMAS))('[D13] is accepted and marked as slow: %s', (_what, { schema }) => {
    expect(ResponseFormat.safeParse(schema).error).toBeUndefined();
    expect(measureSchema(schema).isPredictable).toBe(false);
  });

  it('[P04] is accepted when it is recursive, has choices and repeats its definitions', () => {
    const tree = {
      $ref: '#/$defs/node',
      $defs: {
        name: { type: 'string', pattern: '^[a-z]+$' },
        node: {
          type: 'object',
          properties: {
            name: { $ref: '#/$defs/name' },
            title: { $ref: '#/$defs/name' },
            children: { type: 'array', items: { $ref: '#/$defs/node' } },
            parent: { anyOf: [{ $ref: '#' }, { type: 'null' }] },
          },
        },
      },
    };
    expect(ResponseFormat.safeParse(tree).error).toBeUndefined();
  });

  it('[D13] is measured by the number of its schemas, with all references followed', () => {
    const two = {
      type: 'object',
      properties: { a: { $ref: '#/$defs/a' }, b: { $ref: '#/$defs/a' } },
    };
    const size = measureSchema({ ...two, $defs: { a: { type: 'array', items: {} } } });
    expect(size).toEqual({ expanded: 7, isPredictable: true });
  });
});

describe('a check that runs in a thread', () => {
  const checks = createCheckRunner({ timeoutMs: 500, idleMs: 200 });
  /** The timeout for checks that never complete, which use a processor the whole time. */
  const impatient = createCheckRunner({ timeoutMs: 50, idleMs: 200 });
  const answer = ({ schema, value }: HostileSchema, within = impatient) =>
    within.checkAnswer(JSON.stringify(value), schema);

  it.each(
    named([
      ...SLOW_SCHEMAS.filter((_, nth) => isDueToday(nth, 2)),
      ...HOSTILE_SCHEMAS.filter(({ value }) => Object.keys(Object(value)).length > 0).slice(
        0,
        scaleRunCount(12),
      ),
    ]),
  )('[D13] is terminated without stalling the event loop: %s', async (_what, one) => {
    const work = answer(one);
    const code = codeOf(work);
    expect(await turnsDuring(work)).toBeGreaterThan(0);
    expect(await code).toMatch(/^check-(timeout|failed)$/);
  });

  it('[D13] handles values and patterns in the same way', async () => {
    const [slow] = SLOW_SCHEMAS;
    const { pattern, text } = SLOW_PATTERN;
    const all = Promise.all([
      codeOf(impatient.tryValue(slow?.value, slow?.schema ?? {})),
      codeOf(impatient.testPatterns([new RegExp(pattern)], text)),
    ]);
    expect(await turnsDuring(all)).toBeGreaterThan(0);
    expect(await all).toEqual(['check-timeout', 'check-timeout']);
    expect(await checks.testPatterns([/a/u, /^b/u], 'a')).toEqual([true, false]);
    await checks.tryValue({ a: 1 }, { type: 'object' });
  });

  it('[D13] delays later checks by at most the timeouts of the slow ones', async () => {
    const [slow] = SLOW_SCHEMAS;
    if (slow === undefined) throw new Error('there is a slow schema');
    const bad = Array.from({ length: SLOW_AHEAD }, () => codeOf(answer(slow, checks)));
    const good = checks.checkAnswer('{"a": 1}', { type: 'object', required: ['a'] });
    expect(await good).toEqual({ json: '{"a": 1}' });
    expect(new Set(await Promise.all(bad))).toEqual(new Set(['check-timeout']));
  });

  it('[D11] ends when its turn is stopped, even while it waits for a thread', async () => {
    const [slow] = SLOW_SCHEMAS;
    if (slow === undefined) throw new Error('there is a slow schema');
    const stop = new AbortController();
    const patient = createCheckRunner({ timeoutMs: 3_600_000 });
    const json = JSON.stringify(slow.value);
    const all = Array.from({ length: 4 }, () =>
      patient.checkAnswer(json, slow.schema, stop.signal),
    );
    setTimeout(() => stop.abort(new Error('stopped')), 100);
    const ended = await Promise.allSettled(all);
    expect(ended.map((one) => String(one.status === 'rejected' && one.reason))).toEqual(
      Array.from({ length: 4 }, () => 'Error: stopped'),
    );
  });

  it('[P04] does not need a thread if any object matches', async () => {
    expect(await checks.checkAnswer('{}', 'json')).toEqual({ json: '{}' });
    expect(await checks.checkAnswer('[]', 'json')).toHaveProperty('wrong');
  });

  it('[D13] explains why a schema accepted by an earlier version cannot be checked', async () => {
    await expect(checks.checkAnswer('{}', { type: 'strng' })).rejects.toThrow('Unsupported type');
  });
});

describe('a pattern in the list of hostile regular expressions', () => {
  it.each(HOSTILE_PATTERNS.map(({ pattern }) => [pattern]))('[D13] is detected: %s', (pattern) => {
    expect(findPatternRisk(pattern)).not.toBeNull();
  });
  it('[D12] is accepted if it is only slow on long text', () => {
    expect(findPatternRisk(SLOW_PATTERN.pattern)).toBeNull();
  });
});
