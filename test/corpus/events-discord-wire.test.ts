import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GatewayDispatchEvents, MessageType } from 'discord-api-types/v10';
import { describe, expect, it } from 'vitest';
import { toInbound } from '../../packages/channel-discord/src/content.ts';
import type { ChatDetails } from '../../packages/channel-discord/src/places.ts';
import { WireMessage } from '../../packages/channel-discord/src/wire-message.ts';
import { EVENTS } from './discord-events.ts';
import {
  ACTIVITIES,
  COMPONENTS,
  EMBEDS,
  type FieldDecision,
  OBJECTS,
  STICKERS,
  type WireObject,
} from './discord-wire.ts';

/** The bot's own id. */
const ME = '190000000000000009';
const FOLDER = join(import.meta.dirname, 'events-discord');

/** A field of a case: the field that contains its object, its own name, and its value. */
interface Seen {
  readonly parent: string;
  readonly name: string;
  readonly value: unknown;
}

/** The data of each case, with ids of its own for the names in it. */
const cases: readonly object[] = readdirSync(FOLDER)
  .filter((file) => !file.endsWith('.expected.json'))
  .map((file) => {
    const text = readFileSync(join(FOLDER, file), 'utf8')
      .replaceAll('BOT_ID', ME)
      .replaceAll(/BOT_ROLE|CHANNEL|GUILD|DIRECT|THREAD/g, (name) => String(40 + name.length));
    const { d, ...bare } = JSON.parse(text);
    return d ?? bare;
  });

/** All that Parley makes of a message. */
function outcomeOf(data: object): string {
  const read = WireMessage.safeParse(data);
  if (!read.success) return 'not read';
  const isDirect = !('guild_id' in data);
  const place: ChatDetails = {
    chat: { id: '1', type: isDirect ? 'direct' : 'group' },
    guildId: '45',
    botRole: '48',
    nameOf: (kind, id) => (kind === 'channel' && id === '47' ? 'general' : undefined),
  };
  const inbound = toInbound(read.data, place, { account: 'default', me: ME, threads: 'never' });
  const { type, channel_id, edited_timestamp } = read.data;
  return JSON.stringify([inbound ?? type, channel_id, edited_timestamp]);
}

const outcomes = cases.map(outcomeOf);

/** The value without a field of the objects in these fields. */
function without(value: unknown, parents: readonly string[], name: string, parent = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => without(one, parents, name, parent));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(
    ([key]) => !(parents.includes(parent) && key === name),
  );
  return Object.fromEntries(fields.map(([key, one]) => [key, without(one, parents, name, key)]));
}

/** Whether anything that Parley makes of the cases is different without a field. */
function matters(parents: readonly string[], name: string): boolean {
  return cases.some((data, at) => {
    const less = Object(without(data, parents, name));
    return JSON.stringify(less) !== JSON.stringify(data) && outcomeOf(less) !== outcomes[at];
  });
}

const isDecided = (decision: FieldDecision) => decision === 'read' || decision === 'named';

/** Fields of which Parley does something else than is decided. */
function wrongFields({ in: parents, fields }: WireObject): string[] {
  return Object.entries(fields).flatMap(([name, decision]) =>
    matters(parents, name) === isDecided(decision) ? [] : [name],
  );
}

const seen: Seen[] = [];
for (const data of cases) collect(data, '');

function collect(value: unknown, parent: string): void {
  if (Array.isArray(value)) for (const one of value) collect(one, parent);
  else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) {
      seen.push({ parent, name, value: inner });
      collect(inner, name);
    }
  }
}

function missingKinds(
  kinds: Readonly<Record<string, FieldDecision>>,
  parents: readonly string[],
  field: string,
): string[] {
  const values = new Set(
    seen
      .filter(({ parent, name }) => parents.includes(parent) && name === field)
      .map(({ value }) => String(value)),
  );
  return Object.keys(kinds).filter((kind) => !values.has(kind));
}

describe('the wire of Discord', () => {
  it.each(Object.entries(OBJECTS))(
    '[F16] has a case in which each field that is read or named matters, and no other does: %s',
    (_name, object) => {
      expect(wrongFields(object)).toEqual([]);
    },
  );

  it.each([
    ['components', COMPONENTS, OBJECTS['component']?.in ?? [], 'type'],
    ['embeds', EMBEDS, ['embeds'], 'type'],
    ['stickers', STICKERS, ['sticker_items', 'stickers'], 'format_type'],
    ['invitations', ACTIVITIES, ['activity'], 'type'],
  ] as const)('[F16] has a case for each kind of %s', (_name, kinds, parents, field) => {
    expect(missingKinds(kinds, parents, field)).toEqual([]);
  });

  it('[F16] has a case for each type of message', () => {
    const types = Object.values(MessageType).filter((type) => typeof type === 'number');
    const all = Object.fromEntries(types.map((type) => [type, 'read' as const]));
    expect(missingKinds(all, ['', 'd', 'referenced_message', 'message'], 'type')).toEqual([]);
  });

  it('[F16] has a decision for each event of the gateway', () => {
    expect(Object.keys(EVENTS).toSorted()).toEqual(Object.values(GatewayDispatchEvents).toSorted());
  });
});
