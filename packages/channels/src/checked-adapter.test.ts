import { ChannelError, Defects, InboundMessage, type OutboundPart } from '@parley/core';
import { CAPABILITIES } from '@parley/core/testing';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ChannelAdapter, SenderFacts } from './adapter.ts';
import {
  checkAdapter,
  checkSenderFacts,
  checkState,
  findFatalDefect,
  findShapeProblems,
} from './checked-adapter.ts';

const PART: OutboundPart = {
  id: 'p1',
  idempotencyKey: 'k1',
  turnId: null,
  index: null,
  route: { channel: 'test', account: 'default', chatId: '1', target: CAPABILITIES.target },
  body: { text: 'hi', plain: 'hi' },
};
const SIGNAL = new AbortController().signal;
const NEVER = { minIntervalMs: 1, update: async () => {}, end: async () => {} };

const anything = fc.oneof(
  fc.anything({ withDate: true, withMap: true, withNullPrototype: true }),
  fc.record({ messageId: fc.string() }),
  fc.record({ platformMessageId: fc.anything() }),
  fc.constant({ platformMessageId: 'x'.repeat(300) }),
);

let defects: Defects;
let reasons: string[];
beforeEach(() => {
  reasons = [];
  defects = new Defects({
    clock: () => 5,
    onDefect: ({ what, reason }) => void reasons.push(`${what}: ${reason}`),
  });
});

/** An adapter whose functions all return the same value. */
function returning(value: unknown): ChannelAdapter {
  const give = async () => value;
  const adapter: object = {
    capabilities: CAPABILITIES,
    start: give,
    stop: give,
    send: give,
    findSent: give,
    chatName: give,
    streaming: { ...NEVER, pace: () => value },
    files: { maxBytes: 10, fetch: give },
    http: { fetch: give },
  };
  return checkAdapter(adapter as ChannelAdapter, defects);
}

describe('an adapter’s results', () => {
  it('[F01] [F04] match the contract whatever its code returns, and each violation is counted', async () => {
    await fc.assert(
      fc.asyncProperty(anything, async (value) => {
        const { send, findSent, chatName, streaming, files, http } = returning(value);
        const { platformMessageId } = await send(PART, SIGNAL);
        expect(platformMessageId).toSatisfy(isId);
        const before = { conversationId: 'c', at: 0 } as never;
        expect((await findSent?.(PART, before, SIGNAL)) ?? 'none').toSatisfy(isId);
        expect(typeof ((await chatName?.({ chatId: '1' })) ?? '')).toBe('string');
        const pace = streaming?.pace?.({ chatId: '1' }, 1) ?? { minIntervalMs: 0 };
        expect(pace.minIntervalMs).toBeGreaterThanOrEqual(0);
        const fetched = await files?.fetch('r', 10, SIGNAL).catch((error: unknown) => error);
        expect(fetched).toSatisfy((it) => it instanceof Uint8Array || it instanceof ChannelError);
        expect(await http?.fetch(new Request('http://x/'))).toBeInstanceOf(Response);
      }),
    );
    expect(defects.summary()?.count).toBe(reasons.length);
    expect(reasons.length).toBeGreaterThan(100);
  });

  const isId = (id: unknown) => typeof id === 'string' && id.length > 0 && id.length <= 256;

  it('[D10] keep the origins of an open route, and the route gets the throttle for wrong secrets', async () => {
    const doors: unknown[] = [];
    const open: object = {
      capabilities: CAPABILITIES,
      http: {
        open: true,
        origins: ['https://a.example'],
        async fetch(_request: Request, door: unknown) {
          doors.push(door);
          return new Response();
        },
      },
    };
    const { http } = checkAdapter(open as ChannelAdapter, defects);
    const door = { refuseWrong: () => 5 };
    await http?.fetch(new Request('http://x/'), door);
    expect([http?.open, http?.origins, doors]).toEqual([true, ['https://a.example'], [door]]);
  });

  it('[D04] get a generated id for a message part without a readable receipt, which is never sent again', async () => {
    const { send } = returning({ messageId: '7' });
    expect(await send(PART, SIGNAL)).toEqual({ platformMessageId: 'unknown:p1' });
    expect(reasons).toEqual(['send: its platformMessageId is wrong: invalid_union']);
  });

  it('[F01] are passed on unchanged when valid, and numeric ids become text', async () => {
    expect(await returning({ platformMessageId: '7' }).send(PART, SIGNAL)).toEqual({
      platformMessageId: '7',
    });
    expect(await returning({ platformMessageId: 7 }).send(PART, SIGNAL)).toEqual({
      platformMessageId: '7',
    });
    expect(await returning('9').findSent?.(PART, {} as never, SIGNAL)).toBe('9');
    const answer = new Response('x');
    expect(await returning(answer).http?.fetch(new Request('http://x/'))).toBe(answer);
    expect(reasons).toHaveLength(0);
  });

  it('[F01] stop the account after three invalid receipts in a row, but not after three in total', async () => {
    const [wrong, right] = [returning(null), returning({ platformMessageId: '7' })];
    await wrong.send(PART, SIGNAL);
    await wrong.send(PART, SIGNAL);
    await right.send(PART, SIGNAL);
    await wrong.send(PART, SIGNAL);
    await wrong.send(PART, SIGNAL);
    expect(findFatalDefect(defects)).toBeUndefined();
    await wrong.send(PART, SIGNAL);
    expect(findFatalDefect(defects)).toBe('send');
    expect(defects.summary()).toMatchObject({ count: 5, last: { what: 'send', at: 5 } });
  });

  it('[D12] never stop the account for errors that people in chats can cause: files, requests, exceptions', async () => {
    const throwing = checkAdapter(
      { ...returning(null), send: () => Promise.reject(new TypeError('x is undefined')) },
      defects,
    );
    for (let nth = 0; nth < 5; nth += 1) {
      await expect(throwing.send(PART, SIGNAL)).rejects.toMatchObject({
        failure: { kind: 'unknown-outcome' },
      });
      await returning(null)
        .files?.fetch('r', 1, SIGNAL)
        .catch(() => undefined);
      await returning(null).http?.fetch(new Request('http://x/'));
    }
    expect(defects.summary()?.count).toBe(15);
    expect(findFatalDefect(defects)).toBeUndefined();
  });

  it.each<[what: string, thrown: object, kind: string, defects: number]>([
    ['a ChannelError', new ChannelError({ kind: 'gone' }, 'gone'), 'gone', 0],
    [
      'one of another copy of Parley',
      { failure: { kind: 'forbidden' }, message: 'no' },
      'forbidden',
      0,
    ],
    [
      'a rate limit without an end',
      failing({ kind: 'rate-limited', retryAfterMs: Number.NaN, scope: 'chat' }),
      'unknown-outcome',
      1,
    ],
    ['a failure that there is not', failing({ kind: 'tired' }), 'unknown-outcome', 1],
    ['an ordinary error', new Error('boom'), 'unknown-outcome', 1],
  ])(
    '[D05] become a ChannelError when send throws something else: %s',
    async (_what, thrown, kind, count) => {
      const { send } = checkAdapter(
        { ...returning(null), send: () => Promise.reject(thrown) },
        defects,
      );
      await expect(send(PART, SIGNAL)).rejects.toMatchObject({ failure: { kind } });
      expect(reasons).toHaveLength(count);
    },
  );

  function failing(failure: object) {
    return { failure, message: 'x' };
  }

  it.each<[what: string, change: object]>([
    ['no capabilities', { capabilities: undefined }],
    ['a media kind that there is not', { capabilities: { ...CAPABILITIES, media: ['smell'] } }],
    ['no send', { send: undefined }],
    ['a findSent that is no function', { findSent: 'yes' }],
    ['typing without a pace', { typing: { show: async () => {} } }],
    ['files without a limit', { files: { fetch: async () => new Uint8Array() } }],
    ['streaming without an end', { streaming: { ...NEVER, end: undefined } }],
  ])("[F04] are preceded by a check of the adapter's shape at creation: %s", (_what, change) => {
    expect(findShapeProblems({ ...returning(null), ...change })).not.toEqual([]);
  });

  it('[F04] have no problems with a valid shape, or with a capability of a later version', () => {
    const capabilities = { ...CAPABILITIES, smells: true };
    expect(findShapeProblems({ ...returning(null), capabilities })).toEqual([]);
    expect(findShapeProblems(null)).not.toEqual([]);
  });

  it('[F05] make the sender an administrator only when strictly true', async () => {
    await fc.assert(
      fc.asyncProperty(fc.anything(), async (value) => {
        const facts: object = {
          isAdministrator: async () => value,
          roles: async () => value,
          earlier: async () => value,
        };
        const { isAdministrator, roles, earlier } = checkSenderFacts(facts as SenderFacts, defects);
        expect(await isAdministrator?.(SIGNAL)).toBe(value === true);
        expect(await roles?.(SIGNAL)).toSatisfy((all) => Array.isArray(all) && all.every(isId));
        for (const one of (await earlier?.(SIGNAL)) ?? []) InboundMessage.parse(one);
      }),
    );
  });

  it('[D12] are ignored when the reported state is invalid', () => {
    expect(checkState({ kind: 'fine' }, defects)).toBeUndefined();
    expect(checkState({ kind: 'connected' }, defects)).toBeUndefined();
    expect(checkState({ kind: 'connected', as: 'me' }, defects)).toEqual({
      kind: 'connected',
      as: 'me',
    });
    expect(reasons).toHaveLength(2);
  });
});
