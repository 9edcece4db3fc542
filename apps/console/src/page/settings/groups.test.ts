import { readFileSync } from 'node:fs';
import { configPath } from '@parley/core/installation';
import { describe, expect, it } from 'vitest';
import { keysOf, type Schema } from './fields.ts';
import { groupOf, SETTINGS_GROUPS } from './groups.ts';

const schema: Schema = JSON.parse(readFileSync(configPath('parley.schema.json'), 'utf8'));

/** The paths of all settings; `*` stands for a name that people choose. */
function pathsIn(one: Schema, path: readonly string[]): readonly (readonly string[])[] {
  const { keys, entry } = keysOf(one);
  const inner = entry === undefined ? keys : [...keys, ['*', entry] as const];
  return inner.flatMap(([key, schemaOfKey]) => {
    const below = [...path, key];
    return [below, ...pathsIn(schemaOfKey, below)];
  });
}

const paths = pathsIn(schema, []);

describe('the groups of settings', () => {
  it('[U03] contain every setting exactly once', () => {
    expect(paths.length).toBeGreaterThan(500);
    const homeless = paths.filter((path) => groupOf(path) === undefined);
    // The version is missing because Parley writes it itself.
    expect(homeless).toEqual([['version']]);
    const parts = SETTINGS_GROUPS.flatMap((group) => group.parts);
    expect(parts).toEqual([...new Set(parts)]);
  });

  it('[U03] contain only settings that exist', () => {
    const known = new Set(paths.map((path) => path.join('.')));
    const parts = SETTINGS_GROUPS.flatMap((group) => group.parts);
    expect(parts.filter((part) => !known.has(part))).toEqual([]);
  });

  it('[U03] show a setting that is listed separately outside its section', () => {
    expect(groupOf(['heartbeat', 'memoryTokens'])?.id).toBe('memory');
    expect(groupOf(['heartbeat', 'enabled'])?.id).toBe('tasks');
    expect(groupOf(['agents', 'desk', 'heartbeat', 'memoryTokens'])?.id).toBe('agents');
    expect(groupOf(['nothing'])).toBeUndefined();
  });
});
