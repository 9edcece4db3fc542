import { readFileSync } from 'node:fs';
import { getConfigPath } from '@parley/core/installation';
import { describe, expect, it } from 'vitest';
import {
  chooseField,
  createEntryValue,
  findMatchingForm,
  getInitialValue,
  listAllowedKeys,
  type SettingFieldKind,
  type SettingSchema,
} from './fields.ts';

const REFERENCE = `\${NAME}`;
const schema: SettingSchema = JSON.parse(readFileSync(getConfigPath('parley.schema.json'), 'utf8'));

function schemaAt(path: string): SettingSchema {
  let here = schema;
  for (const key of path.split('.')) {
    const { keys, entry } = listAllowedKeys(here.items ?? here);
    const found = keys.find(([name]) => name === key)?.[1] ?? entry;
    if (found === undefined) throw new Error(`The schema has no ${path}.`);
    here = found;
  }
  return here;
}

function at(path: string, written?: unknown): SettingFieldKind {
  return chooseField(path.split('.').at(-1) ?? '', schemaAt(path), written);
}

function formsAt(path: string) {
  const field = at(path);
  return field.kind === 'union' ? field.forms : [];
}

describe('the field for a setting', () => {
  it.each<[string, unknown, object]>([
    ['heartbeat.enabled', undefined, { kind: 'switch' }],
    ['heartbeat.enabled', REFERENCE, { kind: 'text' }],
    ['limits.turnSteps', undefined, { kind: 'text', numbers: true }],
    ['retention.messageDays', undefined, { kind: 'text', numbers: true }],
    ['log.level', undefined, { kind: 'choice' }],
    ['owners', undefined, { kind: 'list', numbers: false }],
    ['web.fetch.ports', undefined, { kind: 'list', numbers: true }],
    ['channels.telegram.token', undefined, { kind: 'text', isSecret: true }],
    ['channels.telegram', undefined, { kind: 'union' }],
    ['model', undefined, { kind: 'union' }],
    ['model', REFERENCE, { kind: 'text' }],
    ['mcp', undefined, { kind: 'record' }],
    ['mcp.any', undefined, { kind: 'block' }],
    ['mcp.any.env.GITHUB_TOKEN', undefined, { kind: 'text', isSecret: true }],
    ['plugins', undefined, { kind: 'items' }],
    ['plugins.options', undefined, { kind: 'record' }],
    ['plugins.options.any', undefined, { kind: 'json' }],
    ['tools.message.chats', undefined, { kind: 'record' }],
    ['telemetry.otlp.headers', undefined, { kind: 'record' }],
    ['spend.perStrangerDaily', undefined, { kind: 'union' }],
    ['soul.judge', undefined, { kind: 'text', flags: true }],
    ['agent.ephemeral', undefined, { kind: 'text', isLong: true }],
    ['agent.name', 'two\nlines', { kind: 'text', isLong: true }],
    ['heartbeat.enabled', 'sometimes', { kind: 'json' }],
    ['owners', [{ not: 'a person' }], { kind: 'json' }],
    ['mcp', 'no block', { kind: 'json' }],
  ])('[D12] shows a field for %s with the value %j', (path, written, expected) => {
    expect(at(path, written)).toMatchObject(expected);
  });

  it.each<[string, unknown, string | undefined]>([
    ['lanes.busy', undefined, undefined],
    ['lanes.busy', 'steer', 'steer'],
    ['lanes.busy', { direct: 'steer' }, 'Direct chats, Group chats …'],
    ['spend.perStrangerDaily', 'off', 'off'],
    ['spend.perStrangerDaily', { usd: 1 }, 'Tokens per day, US dollars per day'],
    ['model', 'offline', 'offline'],
    ['model', { provider: 'anthropic', model: 'm' }, 'anthropic'],
    ['model', { provider: 'openai', baseUrl: 'u' }, 'openai'],
    ['channels.telegram', { token: 'x' }, 'One account'],
    ['channels.telegram', { accounts: { one: {} } }, 'Several accounts'],
  ])('[D12] recognizes the form of %s with the value %j as %s', (path, written, label) => {
    const forms = formsAt(path);
    expect(forms[findMatchingForm(forms, written)]?.label).toBe(label);
  });

  it('[D12] keeps values that fit a newly chosen form', () => {
    const openai = formsAt('model').find(({ label }) => label === 'openai');
    const before = { provider: 'openai-compatible', apiKey: 'k', headers: { a: 'b' }, model: 'm' };
    expect(openai && getInitialValue(openai, before)).toEqual({
      provider: 'openai',
      apiKey: 'k',
      model: 'm',
    });
    expect(createEntryValue(schemaAt('mcp.any'))).toEqual({});
    expect(createEntryValue(schemaAt('mcp.any.env.A'))).toBe('');
  });

  it('[D12] shows a field for every setting; only JSON Schemas and the options of hosted adapters are entered as JSON', () => {
    const seen: string[] = [];
    const look = (one: SettingSchema, path: string, depth: number): void => {
      const { kind } = chooseField(path, one, undefined);
      if (kind === 'json') seen.push(path);
      const { keys, entry } = listAllowedKeys(one);
      if (depth === 0) return;
      for (const [key, inner] of keys) look(inner, `${path}.${key}`, depth - 1);
      if (entry !== undefined) look(entry, `${path}.*`, depth - 1);
    };
    look(schema, '', 6);
    // If Parley has no list of options for an adapter, the field accepts any JSON value.
    expect(seen).toEqual([
      '.agent.responseFormat.*',
      '.agents.*.responseFormat.*',
      '.channels.*.options.*',
      '.channels.*.accounts.*.options.*',
    ]);
  });
});
