import type { ChannelContext, IngressOutcome } from '@parley/channels';
import type { InboundMessage } from '@parley/core';
import { createInMemoryAdapterValues, silentRuntime } from '@parley/core/testing';
import { proto, writeRandomPadMax16 } from '@whiskeysockets/baileys';
import { describe, expect, it } from 'vitest';
import { ChatDirectory } from './chats.ts';
import { admitMessage, parseMessage } from './intake.ts';
import { ContactNames } from './names.ts';
import { classifyStanza } from './notices.ts';
import { ContactDirectory } from './people.ts';
import { RecentMessageCache } from './quotes.ts';
import { listResentMessages } from './resent.ts';

const ANN = '491500000001@s.whatsapp.net';
const BEN = '491500000002@s.whatsapp.net';
const GROUP = '120363000000000001@g.us';
const ME = { lid: '99000000000009@lid', pn: '491500000009@s.whatsapp.net' };
const NOW = 7_000;

interface Core {
  readonly outcome?: IngressOutcome;
  /** The message that was stored before a restart. */
  readonly stored?: Awaited<ReturnType<ChannelContext<unknown>['message']>>;
}

/** The adapter's path from decrypted bytes to the core, whose responses the test chooses. */
function intake({ outcome, stored = null }: Core = {}) {
  const values = createInMemoryAdapterValues();
  const received: InboundMessage[] = [];
  const told: unknown[] = [];
  const reasons: string[] = [];
  const deps = {
    context: {
      account: 'default',
      commands: [],
      receive: async (message: InboundMessage) => {
        received.push(message);
        return outcome ?? ({ kind: 'accepted', conversationId: 'c' } as const);
      },
      revise: async (revision: unknown) => void told.push(revision),
      reacted: async (reaction: unknown) => void told.push(reaction),
      ignored: async (_event: unknown, reason: string) => void reasons.push(reason),
      message: async () => stored,
      history: async () => (stored === null ? [] : [SAID]),
    },
    me: () => ME,
    contacts: new ContactDirectory(values),
    recent: new RecentMessageCache(),
    groups: { title: () => undefined, isAdmin: async () => false },
    chats: new ChatDirectory(values),
    names: new ContactNames(),
    log: silentRuntime.log,
    read: () => {},
  };
  const known = { getPNForLID: async () => null };
  /** Admits a message as if it came from the socket. */
  const arrive = async (content: object, attrs: Record<string, string> = {}) => {
    const message = proto.Message.fromObject({ ...content });
    const plain = writeRandomPadMax16(proto.Message.encode(message).finish());
    const envelope = { from: ANN, id: 'A1', t: '5', notify: 'Ann', ...attrs };
    const raw = await parseMessage(envelope, plain, known, () => NOW);
    if (raw === undefined) throw new Error('not read');
    await admitMessage(deps, raw, known);
  };
  return { arrive, received, told, reasons, values };
}

const edit = (id: string, conversation: string) => ({
  protocolMessage: { type: 14, key: { id }, editedMessage: { conversation } },
});
const deletion = (id: string) => ({ protocolMessage: { type: 0, key: { id } } });
const SAID = { kind: 'inbound', messageId: 'M', text: 'hi', at: 1, outcome: null } as const;
const who = { senderId: '491500000001', senderName: 'Ann' };
const byAnn = { by: 'person', ...who, text: 'hi', conversationId: 'c' } as const;
const inGroup = (participant: string, id: string) => ({ from: GROUP, participant, id });

describe('a WhatsApp message on its way to the core', () => {
  it.each([
    ['', NOW],
    ['now', NOW],
    ['-5', NOW],
    ['1e300', NOW],
    ['Infinity', NOW],
    ['0', NOW],
    ['1.00051', 1_000],
    ['1790000000', 1_790_000_000_000],
  ])('[F01] is not lost because of an invalid time: %j', async (t, sentAt) => {
    const { arrive, received } = intake();
    await arrive({ conversation: 'hi' }, { t });
    expect(received).toMatchObject([{ text: 'hi', sentAt }]);
  });

  it('[F06] truncates a reaction that is too long for an emoji', async () => {
    const { arrive, told } = intake();
    await arrive({ reactionMessage: { key: { id: 'X' }, text: 'x'.repeat(100) } });
    expect(told).toMatchObject([{ messageId: 'X', emojis: ['x'.repeat(64)] }]);
  });

  it('[F16] still names an unreadable file after an edit', async () => {
    const { arrive, received, told } = intake();
    const lost = { imageMessage: { caption: 'look' } };
    await arrive(lost);
    const editedMessage = { imageMessage: { caption: 'see' } };
    await arrive({ protocolMessage: { type: 14, key: { id: 'A1' }, editedMessage } }, { id: 'A2' });
    const names = received[0]?.text.replace('look', '');
    expect(names).toContain('a picture');
    expect(told).toMatchObject([{ kind: 'edited', message: { text: `see${names}` } }]);
  });

  it('[F16] records the reason if an edit leaves a message empty', async () => {
    const { arrive, told, reasons } = intake();
    await arrive({ conversation: 'hi' });
    await arrive(edit('A1', ''), { id: 'A2' });
    expect(told).toEqual([]);
    expect(reasons).toEqual(['an edit that leaves nothing to read']);
  });
});

describe("a group member who uses the id of another person's message", () => {
  it("[P18] cannot change that person's message", async () => {
    const { arrive, received, told, reasons } = intake();
    await arrive({ conversation: 'hi' }, inGroup(ANN, 'X'));
    await arrive({ conversation: 'forged' }, inGroup(BEN, 'X'));
    await arrive(edit('X', 'forged'), inGroup(BEN, 'B1'));
    await arrive(deletion('X'), inGroup(BEN, 'B2'));
    expect(received.map(({ text }) => text)).toEqual(['hi']);
    expect(told).toEqual([]);
    expect(reasons[0]).toBe("it has the id of someone else's message");
    await arrive(edit('X', 'hello'), inGroup(ANN, 'A2'));
    expect(told).toMatchObject([{ message: { text: 'hello', sender: { id: '491500000001' } } }]);
  });

  it.each(['duplicate', 'ignored'] as const)(
    "[P18] cannot change that person's message after a restart, when it is %s",
    async (kind) => {
      const outcome = kind === 'ignored' ? { kind, reason: 'not addressed' } : { kind };
      const { arrive, told } = intake({ outcome, stored: byAnn });
      await arrive({ conversation: 'forged' }, inGroup(BEN, 'X'));
      await arrive(edit('X', 'forged'), inGroup(BEN, 'B1'));
      await arrive(deletion('X'), inGroup(BEN, 'B2'));
      expect(told).toEqual([]);
    },
  );

  it('[F01] does not keep people from changing their own redelivered message after a restart', async () => {
    const { arrive, told } = intake({ outcome: { kind: 'duplicate' }, stored: byAnn });
    await arrive({ conversation: 'hi' }, inGroup(ANN, 'X'));
    await arrive(edit('X', 'hello'), inGroup(ANN, 'A2'));
    expect(told).toMatchObject([{ message: { text: 'hello' } }]);
  });
});

describe('a disappearing-messages timer', () => {
  const timer = { protocolMessage: { type: 3, ephemeralExpiration: 86_400 } };
  const kept = ({ values }: ReturnType<typeof intake>) => values.get('chat', [ANN]);

  it('[F05] [F18] is not stored for a stranger', async () => {
    const scene = intake();
    await scene.arrive(timer);
    expect((await kept(scene)).size).toBe(0);
    await scene.arrive({ conversation: 'hi' }, { id: 'A2' });
    expect((await kept(scene)).get(ANN)).toContain('86400');
  });

  it('[F18] is stored for a person whom the agent has answered before', async () => {
    const scene = intake({ stored: byAnn });
    await scene.arrive(timer);
    expect((await kept(scene)).get(ANN)).toContain('86400');
  });
});

describe('a WhatsApp stanza', () => {
  const enc = [{ tag: 'enc', attrs: {} }];
  it.each([
    ['an assistant', { from: '867051314767696@bot' }, 'a message of a WhatsApp assistant'],
    [
      'an assistant in a group',
      { from: GROUP, participant: '867051314767696@bot' },
      'a message of a WhatsApp assistant',
    ],
    [
      'an app of another company',
      { from: '7-x@interop' },
      'its sender is not a person on WhatsApp',
    ],
    ['nobody in a group', { from: GROUP }, 'its sender is not a person on WhatsApp'],
  ])('[F07] [F16] from %s is ignored with a reason', (_what, attrs, reason) => {
    const stanza = { tag: 'message', attrs: { ...attrs, id: 'A1' }, content: enc };
    expect(classifyStanza(stanza)).toEqual({ kind: 'ignored', reason });
  });

  it.each([{ from: ANN }, { from: '123456789:7@hosted.lid' }, { from: GROUP, participant: BEN }])(
    'from a person is not ignored: %j',
    (attrs) => {
      expect(classifyStanza({ tag: 'message', attrs: { ...attrs, id: 'A1' }, content: enc })).toBe(
        undefined,
      );
    },
  );
});

describe("a message that the account's own phone resends", () => {
  const resent = (message: proto.IMessage, from: object) => {
    const key = { remoteJid: ANN, id: 'Z' };
    const webMessageInfoBytes = proto.WebMessageInfo.encode({ key, message }).finish();
    const peerDataOperationResult = [{ placeholderMessageResendResponse: { webMessageInfoBytes } }];
    const content = {
      protocolMessage: { peerDataOperationRequestResponseMessage: { peerDataOperationResult } },
    };
    return listResentMessages({ chat: ANN, id: 'P', from, name: '', time: 1, content }, ME);
  };

  it('[F16] is named if Parley does not know its kind', () => {
    expect(resent({}, ME)).toMatchObject([
      { envelope: { from: ANN, id: 'Z' }, unread: expect.stringContaining('newer than Parley') },
    ]);
    expect(resent({ conversation: 'hi' }, ME)).toMatchObject([{ content: { conversation: 'hi' } }]);
  });

  it('[P18] is accepted only from this account', () => {
    expect(resent({ conversation: 'forged' }, { pn: BEN })).toEqual([]);
  });
});
