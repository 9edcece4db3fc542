import { readFileSync } from 'node:fs';
import { configPath } from '@parley/core/installation';
import { describe, expect, it } from 'vitest';
import { type Field, fieldOf, readTyped, type Schema, valueAt, writeTyped } from './fields.ts';

const REFERENCE = `\${NAME}`;
const schema: Schema = JSON.parse(readFileSync(configPath('parley.schema.json'), 'utf8'));

function at(path: string, written?: unknown): Field {
  let here = schema;
  for (const key of path.split('.')) {
    const block = fieldOf(key, here, undefined);
    const found = block.kind === 'block' ? block.fields.find(([name]) => name === key) : undefined;
    if (found === undefined) throw new Error(`The schema has no ${path}.`);
    here = found[1];
  }
  return fieldOf(path.split('.').at(-1) ?? '', here, written);
}

describe('a setting in the form', () => {
  it.each<[string, unknown, object]>([
    ['heartbeat.enabled', undefined, { kind: 'switch' }],
    ['heartbeat.enabled', REFERENCE, { kind: 'text' }],
    ['limits.turnSteps', undefined, { kind: 'text', numbers: true }],
    ['retention.messageDays', undefined, { kind: 'text', numbers: true }],
    ['log.level', undefined, { kind: 'choice' }],
    ['owners', undefined, { kind: 'list', numbers: false }],
    ['web.fetch.ports', undefined, { kind: 'list', numbers: true }],
    ['channels.telegram.token', undefined, { kind: 'text', isSecret: true }],
    ['channels.telegram', { token: 'x' }, { kind: 'block' }],
    ['channels.telegram', { accounts: { one: {} } }, { kind: 'file' }],
    ['model', undefined, { kind: 'file' }],
    ['mcp', undefined, { kind: 'file' }],
    ['plugins', undefined, { kind: 'file' }],
  ])('[D12] %s with %j there', (path, written, expected) => {
    expect(at(path, written)).toMatchObject(expected);
  });

  it.each<[string, string, unknown]>([
    ['heartbeat.enabled', 'false', false],
    ['limits.turnSteps', ' 12 ', 12],
    ['limits.turnSteps', REFERENCE, REFERENCE],
    ['retention.messageDays', 'forever', 'forever'],
    ['agent.name', '42', '42'],
    ['owners', 'telegram:1\n\n discord:2 ', ['telegram:1', 'discord:2']],
    ['web.fetch.ports', '80\n443', [80, 443]],
    ['agent.name', ' ', undefined],
  ])('[D12] %s typed as %j is %j', (path, typed, value) => {
    const field = at(path);
    expect(readTyped(field, typed)).toEqual(value);
    if (value !== undefined) expect(readTyped(field, writeTyped(value))).toEqual(value);
  });

  it('finds what the file has, and nothing below what is no block', () => {
    const values = { agent: { name: 'Polly' }, owners: ['telegram:1'] };
    expect(valueAt(values, ['agent', 'name'])).toBe('Polly');
    expect(valueAt(values, ['owners', '0'])).toBeUndefined();
    expect(valueAt(null, ['agent'])).toBeUndefined();
  });
});
