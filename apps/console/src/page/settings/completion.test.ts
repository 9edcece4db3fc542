import { readFileSync } from 'node:fs';
import { getConfigPath } from '@parley/core/installation';
import { describe, expect, it } from 'vitest';
import { listCompletions } from './completion.ts';

const schema = JSON.parse(readFileSync(getConfigPath('parley.schema.json'), 'utf8'));
const labels = (lines: readonly string[], typed: string) =>
  listCompletions(schema, lines, typed).map(({ label }) => label);

describe('completions in the settings editor', () => {
  it('[U03] completes the keys of the block that contains the line', () => {
    expect(labels([], 'he')).toContain('heartbeat');
    expect(labels(['heartbeat:', '  enabled: true'], '  ')).toContain('quietHours');
    expect(labels(['channels:', '  telegram:', '    token: x'], '    ')).toContain('access');
    expect(labels(['heartbeat:', '  enabled: true'], 'lo')).toContain('log');
    expect(labels(['channels:', '  telegram:', '    access:'], '      ')).toContain('groups');
  });

  it('[U03] completes values only for keys that allow just a few', () => {
    expect(labels(['log:'], '  level: ')).toEqual(['debug', 'info', 'warn', 'error', 'silent']);
    expect(labels(['heartbeat:'], '  enabled: t')).toEqual(['true', 'false']);
    expect(labels(['agent:'], '  name: P')).toEqual([]);
    expect(labels(['nothing:'], '  ')).toEqual([]);
  });
});
