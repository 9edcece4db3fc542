import { readFileSync } from 'node:fs';
import { getConfigPath } from '@parley/core/installation';
import { describe, expect, it } from 'vitest';
import { getValueAt, type SettingPath } from './draft.ts';
import { findSchemaAt, type SettingSchema } from './fields.ts';
import { countChanged, createFilter, isSettingShown } from './filter.ts';

const schema: SettingSchema = JSON.parse(readFileSync(getConfigPath('parley.schema.json'), 'utf8'));
const WRITTEN = {
  heartbeat: { enabled: false, everyMinutes: 30 },
  mcp: { desk: { url: 'http://127.0.0.1:1/mcp' } },
  queue: { cluster: {} },
};

function shows(query: string, path: string, isChangedOnly = false): boolean {
  const keys: SettingPath = path.split('.');
  const written = getValueAt(WRITTEN, keys);
  return isSettingShown(createFilter(query, isChangedOnly), {
    path: keys,
    schema: findSchemaAt(schema, keys),
    written,
  });
}

describe('the settings search', () => {
  it.each<[string, string, boolean]>([
    ['', 'limits', true],
    ['quiet HOURS', 'heartbeat.quietHours', true],
    ['quietHours', 'heartbeat.quietHours', true],
    ["agent's time zone", 'heartbeat.quietHours', true],
    ['heartbeat.quiet', 'heartbeat.quietHours', true],
    ['quiet hours', 'heartbeat', true],
    ['quiet hours', 'heartbeat.steps', false],
    ['quiet hours', 'limits', false],
    ['oauth', 'mcp', true],
    ['webhook secret', 'channels', true],
    ['no such words', 'channels', false],
    // The form shows this setting separately, under "Memory".
    ['trim memory.md', 'heartbeat', false],
  ])('[U03] a search for %j finds the setting %s: %s', (query, path, isFound) => {
    expect(shows(query, path)).toBe(isFound);
  });

  it.each<[string, boolean]>([
    ['heartbeat', true],
    ['heartbeat.enabled', true],
    ['heartbeat.everyMinutes', false],
    ['limits', false],
    ['mcp', true],
    ['queue', true],
  ])('[U03] the filter for changed settings shows %s: %s', (path, isFound) => {
    expect(shows('', path, true)).toBe(isFound);
  });

  it('[U03] counts settings that differ from their defaults', () => {
    const count = (path: string) =>
      countChanged(findSchemaAt(schema, [path]), getValueAt(WRITTEN, [path]), [path]);
    expect(['heartbeat', 'mcp', 'queue', 'limits'].map(count)).toEqual([1, 1, 1, 0]);
  });
});
