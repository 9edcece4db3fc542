import { toConversationId } from '@parley/channels';
import type { InboundMessage } from '@parley/core';
import { createInMemoryAdapterValues, silentRuntime } from '@parley/core/testing';
import { proto, writeRandomPadMax16 } from '@whiskeysockets/baileys';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ChatDirectory } from './chats.ts';
import { admitMessage, parseMessage } from './intake.ts';
import { ContactNames } from './names.ts';
import { ContactDirectory } from './people.ts';
import { RecentMessageCache } from './quotes.ts';

/** A person whose identity and number have equal length, so that one may look like the other. */
interface Someone {
  readonly lid: string;
  readonly pn: string;
  /** Whether the person's number is known from earlier messages. */
  readonly isKnown: boolean;
}

/** The id by which an envelope names its sender. */
interface Envelope {
  readonly by: 'lid' | 'pn';
  readonly device: number;
  readonly isHosted: boolean;
  /** Whether the envelope also contains the other id. */
  readonly withOther: boolean;
}

const digits = fc.integer({ min: 10_000_000_000, max: 10_000_000_400 }).map(String);
const people = fc.uniqueArray(digits, { minLength: 8, maxLength: 8 }).chain((all) =>
  fc.tuple(...[0, 1, 2, 3].map(() => fc.boolean())).map((known) =>
    known.map(
      (isKnown, at): Someone => ({
        lid: `${all[at * 2]}@lid`,
        pn: `${all[at * 2 + 1]}@s.whatsapp.net`,
        isKnown,
      }),
    ),
  ),
);
const envelope = fc.record<Envelope>({
  by: fc.constantFrom('lid', 'pn'),
  device: fc.integer({ min: 0, max: 3 }),
  isHosted: fc.boolean(),
  withOther: fc.boolean(),
});
/** Group ids in the current format, and in the former format, which starts with a number. */
const group = fc.constantFrom(
  '120363000000000001@g.us',
  '120363000000000002@g.us',
  '10000000000-1500000000@g.us',
);
const event = fc.record({
  who: fc.integer({ min: 0, max: 3 }),
  group: fc.option(group, { nil: undefined }),
  envelope,
});

/** A person's id as it appears in an envelope. */
function written({ lid, pn }: Someone, { by, device, isHosted }: Envelope): string {
  const [user = '', server = ''] = (by === 'lid' ? lid : pn).split('@');
  const hosted = by === 'lid' ? 'hosted.lid' : 'hosted';
  return `${user}${device === 0 ? '' : `:${device}`}@${isHosted ? hosted : server}`;
}

function attributesOf(someone: Someone, on: Envelope, inGroup: string | undefined) {
  const jid = written(someone, on);
  const other = on.by === 'lid' ? 'pn' : 'lid';
  const beside = on.withOther ? someone[other] : undefined;
  return inGroup === undefined
    ? { from: jid, ...(beside === undefined ? {} : { [`sender_${other}`]: beside }) }
    : { from: inGroup, participant: jid, ...(beside && { [`participant_${other}`]: beside }) };
}

it('[F17] has a separate conversation for each person and group, and sends answers back to it', async () => {
  const property = fc.asyncProperty(
    people,
    fc.array(event, { maxLength: 12 }),
    async (all, events) => {
      const known = {
        getPNForLID: async (lid: string) =>
          all.find((one) => one.lid === lid && one.isKnown)?.pn ?? null,
      };
      const values = createInMemoryAdapterValues();
      const chats = new ChatDirectory(values);
      const received: InboundMessage[] = [];
      const deps = {
        context: {
          account: 'default',
          commands: [],
          receive: async (message: InboundMessage) => {
            received.push(message);
            return { kind: 'accepted', conversationId: 'c' } as const;
          },
          revise: async () => {},
          reacted: async () => {},
          ignored: async () => {},
          message: async () => null,
          history: async () => [],
        },
        me: () => ({ lid: '1@lid', pn: '2@s.whatsapp.net' }),
        contacts: new ContactDirectory(values),
        recent: new RecentMessageCache(),
        groups: { title: () => undefined, isAdmin: async () => false },
        chats,
        names: new ContactNames(),
        log: silentRuntime.log,
        read: () => {},
      };
      const plain = writeRandomPadMax16(proto.Message.encode({ conversation: 'hi' }).finish());
      const places = new Map<string, string>();
      for (const [at, { who, group: inGroup, envelope: on }] of events.entries()) {
        const someone = all[who];
        if (someone === undefined) continue;
        const attrs = { ...attributesOf(someone, on, inGroup), id: `M${at}`, t: '5' };
        const raw = await parseMessage(attrs, plain, known, () => 0);
        if (raw === undefined) throw new Error('not read');
        await admitMessage(deps, raw, known);
        const message = received.at(-1);
        if (message?.messageId !== `M${at}`) throw new Error('not received');
        const conversation = toConversationId(message);
        const place = inGroup ?? someone.lid;
        const names = places.get(conversation) ?? place;
        // A person whose number is in only some envelopes has two ids until the number is known,
        // but never another person's id.
        expect(names).toBe(place);
        places.set(conversation, place);
        const address = await chats.addressOf(message.chat.id);
        expect(address).toBe(inGroup ?? (on.by === 'lid' ? someone.lid : someone.pn));
        // The address stays the same after a restart.
        expect(await new ChatDirectory(values).addressOf(message.chat.id)).toBe(address);
      }
    },
  );
  await fc.assert(property);
});
