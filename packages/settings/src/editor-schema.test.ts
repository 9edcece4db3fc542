import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createSettingsJsonSchema } from './editor-schema.ts';
import { getValueAt } from './source.ts';

const schema = createSettingsJsonSchema({
  modelSchema: z.strictObject({ model: z.enum(['auto', 'offline']).default('auto') }),
  channelSchemas: {
    telegram: z.strictObject({
      token: z.string().describe('From @BotFather.'),
      poll: z.int().max(50),
    }),
  },
});
const at = (path: string) => getValueAt(schema, path.split('/'));

describe('createSettingsJsonSchema', () => {
  it('[D12] covers the core, the model, and each channel with one or several accounts', () => {
    expect(Object.keys(at('properties') as object)).toEqual([
      'version',
      'identity',
      'agent',
      'skills',
      'tools',
      'approvals',
      'mcp',
      'exec',
      'web',
      'plugins',
      'owners',
      'agents',
      'routes',
      'heartbeat',
      'cron',
      'hooks',
      'soul',
      'lanes',
      'limits',
      'spend',
      'media',
      'inspector',
      'retention',
      'http',
      'api',
      'log',
      'telemetry',
      'queue',
      'store',
      'upgrade',
      'model',
      'channels',
    ]);
    const own = at('properties/agents/additionalProperties/properties');
    expect(own).toMatchObject({
      model: { anyOf: [{ properties: { model: {} } }, { type: 'string' }] },
    });
    expect(own).not.toHaveProperty('heartbeat.properties.steps.default');
    const account = at('properties/channels/properties/telegram/anyOf/0');
    expect(account).toMatchObject({
      required: ['token', 'poll'],
      additionalProperties: false,
      properties: {
        enabled: {},
        access: { properties: { direct: {}, groups: {}, allow: {}, allowGroups: {} } },
        activation: {},
        answers: { properties: { mentions: {}, numbered: {} } },
        token: { type: 'string', description: 'From @BotFather.' },
      },
    });
    expect(
      at(
        'properties/channels/properties/telegram/anyOf/1/properties/accounts/additionalProperties',
      ),
    ).toEqual({ ...Object(account), title: undefined });
  });

  it('[D12] allows a reference in place of a number, a choice or a pattern', () => {
    const reference = expect.objectContaining({ pattern: '\\$\\{.+\\}' });
    expect(at('properties/http/properties/port/anyOf')).toEqual([
      { type: 'integer', minimum: 0, maximum: 65_535 },
      reference,
    ]);
    expect(at('properties/log/properties/level')).toMatchObject({
      default: 'info',
      anyOf: [{ enum: ['debug', 'info', 'warn', 'error', 'silent'] }, reference],
    });
  });

  it('[D12] accepts a section in which every line is commented out', () => {
    expect(at('properties/agent/type')).toEqual(['object', 'null']);
  });

  it('creates the same JSON Schema on every machine', () => {
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    expect(at('properties/agent/properties/timeZone')).not.toHaveProperty('default', zone);
    expect(at('properties/agent/properties')).not.toHaveProperty('workspace.default');
  });
});
