import type { InboundMessage } from '@parley/core';
import { createRecordingLogger, toRunOptions } from '@parley/core/testing';
import type { Store } from '@parley/store';
import { openMemoryStore } from '@parley/store/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AlertTargetServices, createAlertTargetFinder } from './alerts.ts';

const PEOPLE = ['a:1', 'a:2', 'a:3', 'b:1', 'b:2'] as const;
const TARGET = { dialect: 'plain', maxLength: 4096, unit: 'utf16' } as const;
/** Names for tasks, chats in the settings, and groups; any of them can have any of these names. */
const NAMES = ['mail', 'family', 'a:g2', '__proto__', 'a:1'] as const;

const channel = fc.constantFrom('a', 'b');
const account = fc.constantFrom('default', 'default', 'default', 'second');
const group = fc.constantFrom('g1', 'g2');
const thread = fc.constantFrom(undefined, 't1');
const person = fc.constantFrom(...PEOPLE);
const persons = fc.uniqueArray(person, { maxLength: 4 });

const written = fc.record({
  person,
  account,
  /** The group; absent for the direct chat of this person. */
  group: fc.option(group, { nil: undefined }),
  title: fc.constantFrom(...NAMES),
  thread,
  /**
   * Whether the person was an owner when they wrote; the settings determine whether they still are.
   */
  fromOwner: fc.constantFrom(true, true, false),
  byParley: fc.constantFrom(false, false, false, false, true),
});
const linked = fc.record({ maker: person, typist: person, byOwner: fc.boolean() });
const named = fc.record({
  channel,
  account,
  chat: fc.oneof(group, fc.constantFrom('d1', 'd2', 'd3')),
  thread,
});
const TELLS = [...NAMES, 'a:g1', ' b:g1 ', 'a:d1', 'b:d2', 'Family', 'g1', 'c:g1', 'toString', ''];
const worlds = fc.record({
  written: fc.array(written, { minLength: 1, maxLength: 14, size: 'max' }),
  links: fc.array(linked, { maxLength: 3 }),
  owners: persons,
  choice: fc.oneof({ weight: 2, arbitrary: fc.constant('last') }, person),
  gone: fc.uniqueArray(
    fc.tuple(channel, account).map((each) => each.join('/')),
    { maxLength: 1 },
  ),
  chats: fc.uniqueArray(fc.tuple(fc.constantFrom(...NAMES), named), {
    maxLength: 4,
    size: 'max',
    selector: ([name]) => name,
  }),
  tells: fc.uniqueArray(fc.option(fc.constantFrom(...TELLS), { nil: undefined }), {
    minLength: 1,
    maxLength: 8,
    size: 'max',
  }),
});
type Written = (typeof written extends fc.Arbitrary<infer Each> ? Each : never) & {
  readonly channel: string;
  readonly chatId: string;
};
type World = typeof worlds extends fc.Arbitrary<infer Each> ? Each : never;

/** Assigns a chat to each message in a world. */
function placed({ written: all }: World): readonly Written[] {
  return all.map((each) => {
    const [from = '', id = ''] = each.person.split(':');
    return { ...each, channel: from, chatId: each.group ?? `d${id}` };
  });
}

async function write(store: Store, each: Written, at: number): Promise<void> {
  const { channel: on, account: by, chatId, thread: inThread, byParley } = each;
  const type = each.group === undefined ? ('direct' as const) : ('group' as const);
  const threadId = type === 'group' && inThread !== undefined ? { threadId: inThread } : {};
  const message: InboundMessage = {
    ...{ channel: on, account: by, messageId: `m${at}` },
    chat: { id: chatId, type, ...threadId, ...(type === 'group' && { title: each.title }) },
    sender: { id: each.person.slice(2), name: each.title, isBot: false },
    ...{ text: 'x', mentions: [], addressed: true, sentAt: at, variables: {} },
    ...(byParley && { trigger: 'cron' }),
  };
  const route = { channel: on, account: by, chatId, chatType: type, ...threadId, target: TARGET };
  const flags = each.fromOwner ? { fromOwner: true } : {};
  const conversationId = placeOf(each);
  await store.inbox.accept({ conversationId, message, route, receivedAt: at, ...flags });
}

/**
 * Links two accounts the way their owners would, with messages from a chat that does not receive
 * alerts.
 */
async function link(store: Store, { maker, typist, byOwner }: World['links'][number], at: number) {
  const code = `code${at}`;
  const steps = [
    { personId: maker, isOwner: byOwner, kind: 'make' },
    { personId: typist, isOwner: false, kind: 'type' },
    { personId: maker, isOwner: byOwner, kind: 'type' },
  ] as const;
  for (const [index, { kind, ...asker }] of steps.entries()) {
    const place = { channel: 'nowhere', account: 'default' };
    const message: InboundMessage = {
      ...{ ...place, messageId: `l${at}-${index}`, chat: { id: 'l', type: 'direct' } },
      sender: { id: '1', name: 'x', isBot: false },
      ...{ text: '/link', mentions: [], addressed: true, sentAt: at, variables: {} },
    };
    const route = { ...place, chatId: 'l', target: TARGET };
    const admitted = { conversationId: 'l', message, route, receivedAt: at };
    await store.inbox.command(admitted, (command) => command.link(asker, { kind, code }));
  }
}

function placeOf({ channel: on, account: by, chatId, thread: inThread, group: of }: Written) {
  return [on, by, chatId, ...(of !== undefined && inThread !== undefined ? [inThread] : [])].join(
    '/',
  );
}

/**
 * Computes the chat that must receive this task's alerts, independently of the implementation; null
 * if there is none.
 */
async function expected(store: Store, world: World, all: readonly Written[], tell?: string) {
  const reached = all.filter(({ channel: on, account: by }) => !world.gone.includes(`${on}/${by}`));
  const named = world.chats.find(([name]) => name === tell)?.[1] ?? idOf(tell);
  const ofGroup = reached.findLast(
    (each) =>
      each.group !== undefined &&
      each.group === named?.chat &&
      each.channel === named.channel &&
      each.account === named.account &&
      each.thread === named.thread,
  );
  if (ofGroup !== undefined) return { place: placeOf(ofGroup), isOwners: false };
  for (const each of reached.toReversed()) {
    if (each.group !== undefined || !each.fromOwner || each.byParley) continue;
    if (world.choice !== 'last' && world.choice !== each.person) continue;
    const linkOf = await store.links.of(each.person);
    const theirs = linkOf?.byOwner === true ? linkOf.members : [];
    const isOwner = [each.person, ...theirs].some((one) =>
      world.owners.some((owner) => owner === one),
    );
    if (isOwner) return { place: placeOf(each), isOwners: true };
  }
  return null;
}

function idOf(tell: string | undefined) {
  const [on, chat] = tell?.trim().split(':') ?? [];
  if (on === undefined || chat === undefined) return undefined;
  return { channel: on, account: 'default', chat, thread: undefined };
}

async function checkWorld(world: World, counts: Map<string, number>): Promise<void> {
  const store = await openMemoryStore({ clock: () => 1 });
  try {
    const all = placed(world);
    for (const [at, each] of all.entries()) await write(store, each, at + 1);
    for (const [at, each] of world.links.entries()) await link(store, each, at + 1);
    const deps: AlertTargetServices = {
      ...{ store, owners: world.owners, tell: world.choice, log: createRecordingLogger().log },
      chats: Object.fromEntries(world.chats),
      serves: (on, by) => 'ab'.includes(on) && !world.gone.includes(`${on}/${by}`),
    };
    for (const tell of world.tells) {
      const found = await createAlertTargetFinder(deps)({
        name: 'mail',
        ...(tell !== undefined && { tell }),
      });
      const should = await expected(store, world, all, tell);
      const { kind } = found;
      const seen =
        kind === 'none' ? null : { place: routePlace(found.route), isOwners: found.isOwners };
      expect(seen).toEqual(should);
      const what = should === null ? 'none' : should.isOwners ? 'owner' : 'group';
      counts.set(what, (counts.get(what) ?? 0) + 1);
    }
  } finally {
    await store.close();
  }
}

function routePlace(route: {
  channel: string;
  account: string;
  chatId: string;
  threadId?: string | undefined;
}) {
  const { channel: on, account: by, chatId, threadId } = route;
  return [on, by, chatId, ...(threadId === undefined ? [] : [threadId])].join('/');
}

describe('the chat for a task’s alerts', () => {
  it('[H04] is exactly the group that the task names, or the direct chat of a current owner, or none', async () => {
    const counts = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(worlds, (world) => checkWorld(world, counts)),
      toRunOptions(60),
    );
    for (const what of ['none', 'owner', 'group']) expect(counts.get(what)).toBeGreaterThan(0);
  });
});
