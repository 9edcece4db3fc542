import type { OutputOf } from '@parley/gateway/operations';
import { describe, expect, it } from 'vitest';
import { locateDataFolder } from '../data-folder.ts';
import { listStatusLines } from './status-text.ts';

type Report = OutputOf<'status/report'>;

const REPORT: Report = {
  self: { version: '1.2.3', uptimeMs: 3 * 3_600_000, memoryBytes: 123_400_000 },
  agent: 'Polly',
  model: 'openai/gpt',
  dataFolder: '/data',
  health: { status: 'ready', reasons: [] },
  channels: [],
  plugins: [],
  mcp: [],
  settings: { afterRestart: [], problems: [] },
  processes: [],
};
const TURNS = { answered: 2, silent: 0, failed: 0, stopped: 0, interrupted: 0 };

const lines = (more: Partial<Report> = {}) =>
  listStatusLines({ ...REPORT, ...more }, locateDataFolder('/data', {}));

describe('parley status', () => {
  it('[U03] [U11] shows version, uptime and memory, like the page', () => {
    expect(lines()).toContain('version   1.2.3, running for 3 h, 123 MB of memory');
  });

  it.each([
    [undefined, undefined],
    [{ messages: 0, oldestMs: 0 }, 'no messages wait'],
    [{ messages: 1, oldestMs: 300_000 }, '1 message waiting, the oldest for 5 min'],
    [{ messages: 4, oldestMs: 0 }, '4 messages waiting'],
  ])('[U03] [U11] shows the age of the oldest queued message: %j', (waiting, text) => {
    const queue = lines({ ...(waiting && { waiting }) }).find((line) => line.startsWith('queue'));
    expect(queue).toBe(text && `queue     ${text}`);
  });

  it.each([
    [0.5, 0, '$0.5000'],
    [0.5, 1, 'over $0.5000'],
    [0, 1, 'unknown cost'],
  ])(
    '[U03] shows the cost as unknown when a price is missing: %s, %s',
    (costUsd, unpriced, text) => {
      const sums = { inputTokens: 5, outputTokens: 5, costUsd, unpriced };
      const turns: NonNullable<Report['turns']> = { ...TURNS, ...sums };
      const today = { tokens: 10, costUsd, people: 1, groups: 0 };
      const shown = lines({ turns, today }).filter((line) => /^(last 24 h|today)/.test(line));
      expect(shown).toHaveLength(2);
      for (const line of shown) expect(line).toContain(text);
    },
  );
});
