import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BaileysEventMap, proto } from '@whiskeysockets/baileys';
import { describe, expect, it } from 'vitest';
import { type RawMessage, toInbound } from '../../../packages/channel-whatsapp/src/content.ts';
import { parseChatUpdate } from '../../../packages/channel-whatsapp/src/intake.ts';
import { KINDS, PROTOCOL_KINDS } from '../../../packages/channel-whatsapp/src/kinds/kinds.ts';
import { STUB_TYPES } from './stub-types.ts';

/** Fields of a message type in Baileys, with their names in the protocol. */
function fieldsOf({ prototype }: { readonly prototype: object }): string[] {
  return Object.entries(prototype).flatMap(([name, value]) =>
    typeof value === 'function' ? [] : [name],
  );
}

const FOLDER = join(import.meta.dirname, '../../corpus/events-whatsapp');

/** The names of all fields in the inputs of the corpus. */
function namesInCorpus(): ReadonlySet<string> {
  const names = new Set<string>();
  const inputs = readdirSync(FOLDER).filter((file) => !file.endsWith('.expected.json'));
  for (const file of inputs) {
    JSON.parse(readFileSync(join(FOLDER, file), 'utf8'), (name, value: unknown) => {
      names.add(name);
      return value;
    });
  }
  return names;
}

describe('the kinds of WhatsApp messages', () => {
  it('[F16] are all read, named, or left out with a reason (new kinds must be listed here)', () => {
    expect(Object.keys(KINDS).toSorted()).toEqual(fieldsOf(proto.Message).toSorted());
    for (const [name, kind] of Object.entries(KINDS)) {
      const text = 'reason' in kind ? kind.reason : 'holds' in kind ? kind.holds : name;
      expect(text).not.toBe('');
    }
  });

  it('[F16] have a case in the corpus if a person can send them', () => {
    const cases = namesInCorpus();
    const sent = Object.entries(KINDS).flatMap(([name, { is }]) =>
      is === 'read' || is === 'named' || is === 'wrapper' || is === 'ignored' ? [name] : [],
    );
    expect(sent.filter((name) => !cases.has(name))).toEqual([]);
  });

  it('[F16] are recognized by each of their types when they change a setting or come from WhatsApp', () => {
    const { Type } = proto.Message.ProtocolMessage;
    const names = Object.keys(Type).filter((name) => Number.isNaN(Number(name)));
    expect(Object.keys(PROTOCOL_KINDS).toSorted()).toEqual(names.toSorted());
  });

  it('[F16] are recognized by each of their types when they have no content', () => {
    const { StubType } = proto.WebMessageInfo;
    const names = Object.keys(StubType).filter((name) => Number.isNaN(Number(name)));
    const listed = STUB_TYPES.flatMap(([, ...lines]) => lines.flatMap((line) => line.split(' ')));
    expect(listed.toSorted()).toEqual(names.toSorted());
  });
});

const ANN = { pn: '491510000001@s.whatsapp.net', lid: '88000000011@lid' };
const ME = { pn: '491500000009@s.whatsapp.net', lid: '99@lid' };
const GROUP = '120363000000000001@g.us';
const QUOTED = { conversation: 'earlier' };
const STATUS = 'status@broadcast';

type Context = proto.IContextInfo;
const BOOKKEEPING = 'facts of the app about how the message came to be sent';
const BUSINESS = 'how a business measures its advertisements';
const STATUSES = 'facts about a status, which is not for this account alone';

/**
 * Each field of a message context, with an example in which it changes the reading, or the reason
 * why it is ignored.
 */
const CONTEXT = {
  stanzaId: { stanzaId: 'B1', participant: ANN.pn, quotedMessage: QUOTED },
  participant: { stanzaId: 'B1', participant: ME.lid, quotedMessage: QUOTED },
  quotedMessage: { stanzaId: 'B1', participant: ANN.pn, quotedMessage: QUOTED },
  remoteJid: { stanzaId: 'B1', participant: ANN.pn, remoteJid: STATUS, quotedMessage: QUOTED },
  mentionedJid: { mentionedJid: [ANN.lid] },
  groupMentions: { groupMentions: [{ groupJid: GROUP, groupSubject: 'Friends' }] },
  isForwarded: { isForwarded: true },
  forwardingScore: { forwardingScore: 2 },
  forwardedNewsletterMessageInfo: {
    isForwarded: true,
    forwardedNewsletterMessageInfo: { newsletterName: 'News' },
  },
  forwardedAiBotMessageInfo: { isForwarded: true, forwardedAiBotMessageInfo: { botName: 'Deep' } },
  externalAdReply: { externalAdReply: { title: 'Red bike' } },
  quotedAd: { quotedAd: { caption: 'Spring sale' } },
  actionLink: { actionLink: { buttonTitle: 'Shop', url: 'https://example.org' } },
  questionReplyQuotedMessage: { questionReplyQuotedMessage: { quotedQuestion: QUOTED } },
  expiration: { expiration: 86_400 },
  ephemeralSettingTimestamp: { expiration: 86_400, ephemeralSettingTimestamp: 5 },
  ephemeralSharedSecret: 'a key that phones share among themselves',
  disappearingMode: 'who set the timer; the timer itself is read',
  placeholderKey: 'the place of a message that the phone has not shown yet',
  nonJidMentions: 'a mention of everyone, which stands in the text as it is seen',
  groupSubject: 'the title of the group, which WhatsApp tells by itself',
  parentGroupJid: 'the community of the group',
  memberLabel: 'the label of a member of the group',
  isQuestion: 'a mark of questions to channels, whose text is read',
  quotedType: 'whether the quotation was made by a person; its text is read either way',
  forwardOrigin: BOOKKEEPING,
  isSampled: BOOKKEEPING,
  pairedMediaType: BOOKKEEPING,
  rankingVersion: BOOKKEEPING,
  botMessageSharingInfo: BOOKKEEPING,
  urlTrackingMap: BOOKKEEPING,
  featureEligibilities: BOOKKEEPING,
  entryPointConversionSource: BUSINESS,
  entryPointConversionApp: BUSINESS,
  entryPointConversionDelaySeconds: BUSINESS,
  entryPointConversionExternalSource: BUSINESS,
  entryPointConversionExternalMedium: BUSINESS,
  conversionSource: BUSINESS,
  conversionData: BUSINESS,
  conversionDelaySeconds: BUSINESS,
  ctwaSignals: BUSINESS,
  ctwaPayload: BUSINESS,
  utm: BUSINESS,
  trustBannerType: BUSINESS,
  trustBannerAction: BUSINESS,
  businessMessageForwardInfo: BUSINESS,
  smbClientCampaignId: BUSINESS,
  smbServerCampaignId: BUSINESS,
  dataSharingContext: BUSINESS,
  alwaysShowAdAttribution: BUSINESS,
  statusAttributionType: STATUSES,
  statusSourceType: STATUSES,
  statusAttributions: STATUSES,
  statusAudienceMetadata: STATUSES,
  isGroupStatus: STATUSES,
} satisfies { readonly [Name in keyof Required<Context>]: Context | string };

function read(contextInfo: Context) {
  const text = `hello @88000000011 and @${GROUP}`;
  const message: RawMessage = {
    chat: GROUP,
    id: 'A1',
    from: ANN,
    name: 'Ann',
    time: 5,
    content: { extendedTextMessage: { text, contextInfo } },
  };
  const inbound = toInbound(message, {
    account: 'default',
    me: ME,
    sender: ANN.pn,
    people: new Map(),
    nameOf: () => 'Ann',
    titleOf: () => undefined,
  });
  return { inbound, news: parseChatUpdate(message) };
}

describe('the context of a WhatsApp message', () => {
  it('[F16] is read, or left out with a reason (new fields must be listed here)', () => {
    expect(Object.keys(CONTEXT).toSorted()).toEqual(fieldsOf(proto.ContextInfo).toSorted());
  });

  const examples = Object.entries(CONTEXT).flatMap(([name, example]) =>
    typeof example === 'string' ? [] : ([[name, example]] as const),
  );
  it.each(examples)('[F16] changes the reading: %s', (name, example) => {
    const without = Object.fromEntries(Object.entries(example).filter(([one]) => one !== name));
    expect(read(example)).not.toEqual(read(without));
  });
});

const RAW = 'the stanza itself is read, before it is confirmed';
const NONE = 'it changes nothing that the agent reads';

/** Each Baileys event with its effect, or the reason why it is ignored. */
const EVENTS = {
  'connection.update': 'followed: the state of the account',
  'creds.update': 'followed: the credentials are stored',
  'contacts.upsert': 'followed: names for mentions',
  'contacts.update': 'followed: names for mentions',
  'groups.upsert': 'followed: titles of groups',
  'groups.update': 'followed: titles of groups',
  call: 'followed: a call is named to the agent',
  'messages.upsert': RAW,
  'messages.update': RAW,
  'messages.delete': RAW,
  'messages.reaction': RAW,
  'message-receipt.update': RAW,
  'messages.media-update': 'Baileys itself waits for it when a file is asked for again',
  'messaging-history.set':
    'what was said before the account was linked is no business of the agent',
  'messaging-history.status': 'history is not asked for',
  'lid-mapping.update': 'Baileys stores it, and it is asked there',
  'group-participants.update': 'the notice is noted, and drops the list of members',
  'group.join-request': 'the notice is noted',
  'group.member-tag.update': NONE,
  'chats.upsert': NONE,
  'chats.update': NONE,
  'chats.delete': NONE,
  'chats.lock': NONE,
  'presence.update': NONE,
  'blocklist.set': NONE,
  'blocklist.update': NONE,
  'labels.edit': NONE,
  'labels.association': NONE,
  'settings.update': NONE,
  'message-capping.update': NONE,
  'newsletter.reaction': 'channels are not for this account alone',
  'newsletter.view': 'channels are not for this account alone',
  'newsletter-participants.update': 'channels are not for this account alone',
  'newsletter-settings.update': 'channels are not for this account alone',
} satisfies Readonly<Record<keyof BaileysEventMap, string>>;

it('[F16] each handled Baileys event has a listener, and no other event has one', () => {
  const folder = join(import.meta.dirname, '../../../packages/channel-whatsapp/src');
  const sources = readdirSync(folder).filter((name) => /^[a-z-]+\.ts$/.test(name));
  const code = sources.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
  const heard = [...code.matchAll(/\bev\.on\('([^']+)'/g)].map(([, name]) => name);
  const followed = Object.entries(EVENTS).flatMap(([name, what]) =>
    what.startsWith('followed') ? [name] : [],
  );
  expect([...new Set(heard)].toSorted()).toEqual(followed.toSorted());
});
