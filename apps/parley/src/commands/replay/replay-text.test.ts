import {
  createReplayReport,
  type ReplayedAnswer,
  type ReplayOutcome,
} from '@parley/agent/replay-outcome';
import { describe, expect, it } from 'vitest';
import { formatReport } from './replay-text.ts';

const turn = (turnId: string) => ({
  ...{ turnId, conversationId: 'web:default:main', at: 0, resumed: false },
  question: `What of ${turnId}?\u001b[31m`,
});

function createAnswer(text: string, inputTokens: number, costUsd: number): ReplayedAnswer {
  const usage = { model: 'p/m', inputTokens, outputTokens: 10, cachedInputTokens: 50, costUsd };
  return { text, calls: [], usage, latencyMs: 1_000, model: 'p/m' };
}

const before = createAnswer('Fine.', 100, 0.01);
const same: ReplayOutcome = { ...turn('t1'), kind: 'same', before, after: before, changes: [] };
const changed: ReplayOutcome = {
  ...{ ...turn('t2'), kind: 'changed', before, after: createAnswer('Good.', 160, 0.03) },
  changes: [
    { kind: 'text', before: 'Fine.', after: 'Good.' },
    { kind: 'request', part: 'layer soul-file', before: 'kind\n', after: 'stern\n' },
  ],
};
const diverged: ReplayOutcome = {
  ...{ ...turn('t3'), kind: 'diverged', before, after: before, changes: [] },
  call: { name: 'read', arguments: '{"path":"a"}' },
};
const failed: ReplayOutcome = {
  ...{ ...turn('t4'), kind: 'failed', before, code: 'spend-cap', reason: 'No more today.' },
};
const incomplete: ReplayOutcome = {
  ...{ ...turn('t5'), kind: 'incomplete', missing: 'files', hint: 'A file is gone.' },
};

describe('the report of several replays', () => {
  const report = createReplayReport([same, incomplete, changed, diverged, failed]);

  it('[G22] lists the worst turns first, and sums up tokens, money and time', () => {
    const text = formatReport(report);
    const rows = text.split('\n').filter((line) => /^\s*t\d/.test(line));
    expect(rows.map((row) => row.trim().slice(0, 2))).toEqual(['t4', 't3', 't2', 't5', 't1']);
    expect(rows[0]).toContain('spend-cap');
    expect(rows[1]).toContain('called read');
    expect(rows[2]).toMatch(/text, request +\+60 +\+0\.0200/);
    expect(text).toContain('5 turns: 1 same, 1 changed, 1 diverged, 1 incomplete, 1 failed');
    expect(text).toContain('tokens   330 → 390 (+60)');
    expect(text).not.toContain('\u001b');
  });
});

describe('the report of one replay', () => {
  it('[G22] shows both sides, and the lines of the request that changed', () => {
    const text = formatReport(createReplayReport([changed]));
    expect(text).toMatch(/request {3}layer soul-file\n {2}- kind/);
    expect(text).toContain('  + stern');
    expect(text).toMatch(/tokens {3}100 in, 10 out +│ tokens {3}160 in, 10 out/);
    expect(text).toMatch(/cached {3}50 % +│ cached {3}31 %/);
    expect(text).toMatch(/Fine\. +│ Good\./);
  });

  it('[G22] says what is missing, and why a replay failed', () => {
    expect(formatReport(createReplayReport([incomplete]))).toContain('A file is gone.');
    expect(formatReport(createReplayReport([failed]))).toContain('No more today. (spend-cap)');
  });
});
