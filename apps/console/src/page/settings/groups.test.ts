import { readFileSync } from 'node:fs';
import { getConfigPath } from '@parley/core/installation';
import { describe, expect, it } from 'vitest';
import { listAllowedKeys, type SettingSchema } from './fields.ts';
import { findGroup, SETTINGS_GROUPS } from './groups.ts';

const schema: SettingSchema = JSON.parse(readFileSync(getConfigPath('parley.schema.json'), 'utf8'));

/** The paths of all settings; `*` stands for a name chosen by people. */
function pathsIn(one: SettingSchema, path: readonly string[]): readonly (readonly string[])[] {
  const { keys, entry } = listAllowedKeys(one);
  const inner = entry === undefined ? keys : [...keys, ['*', entry] as const];
  return inner.flatMap(([key, schemaOfKey]) => {
    const below = [...path, key];
    return [below, ...pathsIn(schemaOfKey, below)];
  });
}

const paths = pathsIn(schema, []);

describe('the groups of settings', () => {
  it('[U03] lists every setting in exactly one group', () => {
    expect(paths.length).toBeGreaterThan(500);
    const homeless = paths.filter((path) => findGroup(path) === undefined);
    // The version is missing because Parley writes it itself.
    expect(homeless).toEqual([['version']]);
    const parts = SETTINGS_GROUPS.flatMap((group) => group.parts);
    expect(parts).toEqual([...new Set(parts)]);
  });

  it('[U03] lists only existing settings in the groups', () => {
    const known = new Set(paths.map((path) => path.join('.')));
    const parts = SETTINGS_GROUPS.flatMap((group) => group.parts);
    expect(parts.filter((part) => !known.has(part))).toEqual([]);
  });

  it('[U03] shows a separately listed setting outside its section', () => {
    expect(findGroup(['heartbeat', 'memoryTokens'])?.id).toBe('memory');
    expect(findGroup(['heartbeat', 'enabled'])?.id).toBe('tasks');
    expect(findGroup(['agents', 'desk', 'heartbeat', 'memoryTokens'])?.id).toBe('agents');
    expect(findGroup(['nothing'])).toBeUndefined();
  });
});
