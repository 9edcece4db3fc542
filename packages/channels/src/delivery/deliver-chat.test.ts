import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ChannelError,
  type DurablePoint,
  type OutboundPart,
  type Receipt,
  silentMeter,
} from '@parley/core';
import { CAPABILITIES, createRecordingLogger } from '@parley/core/testing';
import { type ChatStateBeforePart, StoreError } from '@parley/store';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type DeliveryScene, openDeliveryScene } from '../testing/delivery-scene.ts';
import { createUncertainNotice } from './after-failure.ts';
import { type DeliveryDeps, deliverChat } from './deliver-chat.ts';
import { createPacer } from './pacer.ts';
import { openSendNotes, type SendNotes } from './send-notes.ts';

const CHAT = { channel: 'test', account: 'default', chatId: 'c' };

let scene: DeliveryScene;
let now: number;
let points: DurablePoint[];
let folder: string;
beforeEach(async () => {
  now = 1_000;
  points = [];
  folder = mkdtempSync(join(tmpdir(), 'parley-delivery-'));
  scene = await openDeliveryScene(() => now);
});
afterEach(async () => {
  await scene.store.close();
  rmSync(folder, { recursive: true });
});

function deps(change: Partial<DeliveryDeps> = {}): DeliveryDeps {
  return {
    outbox: scene.store.outbox,
    capabilities: { idempotentSend: false, buttons: true },
    pacer: createPacer(),
    send: scene.send,
    log: createRecordingLogger().log,
    meter: silentMeter,
    clock: () => now,
    monotonic: () => now,
    random: () => 0,
    checkpoint: (point) => void points.push(point),
    ...change,
  };
}

const deliver = (change?: Partial<DeliveryDeps>, chat = CHAT) =>
  deliverChat(deps(change), chat, new AbortController().signal);
const seen = (chatId = 'c') => scene.visible.get(chatId) ?? [];

/** Notes kept in a file, which survive when all other state of the process is lost. */
function notesOnDisk(): SendNotes {
  const { log } = createRecordingLogger();
  return openSendNotes(join(folder, 'sending'), 'boot', { now, log });
}

/** Simulates a crash during a send, which leaves the row in `sending`. */
async function dieWhileSending(arrived: boolean): Promise<void> {
  const died = new Error('killed');
  const outbox = {
    ...scene.store.outbox,
    markSent: () => Promise.reject(died),
    retryLater: () => Promise.reject(died),
  };
  if (!arrived) scene.answer('c', { kind: 'transient' });
  await expect(deliver({ outbox })).rejects.toBe(died);
}

describe('delivering to a chat', () => {
  it('[D13] abandons a text after 15 s when the platform never answers', async () => {
    await scene.owe('c', ['one']);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const asked = Promise.withResolvers<AbortSignal>();
      const send = async (part: OutboundPart, signal: AbortSignal) => {
        // The first message is the notice that the outcome is unknown.
        if (part.body.text !== 'one') return { platformMessageId: 'notice' };
        asked.resolve(signal);
        return new Promise<Receipt>((_resolve, reject) => {
          signal.addEventListener('abort', () =>
            reject(new ChannelError({ kind: 'unknown-outcome' }, 'swallowed')),
          );
        });
      };
      const delivering = deliver({ send });
      const limit = await asked.promise;
      vi.advanceTimersByTime(14_999);
      expect(limit.aborted).toBe(false);
      vi.advanceTimersByTime(1);
      expect(limit.aborted).toBe(true);
      await delivering;
    } finally {
      vi.useRealTimers();
    }
  });

  it('[D05] continues as soon as the declared rate permits the next part', async () => {
    await scene.owe('c', ['one', 'two']);
    const pacer = createPacer({ direct: { burst: 1, everyMs: 700 } });
    expect(await deliver({ pacer })).toBe(700);
    expect(seen()).toEqual(['one']);
    now += 700;
    expect(await deliver({ pacer })).toBeNull();
    expect(seen()).toEqual(['one', 'two']);
  });

  it('[D05] delays all chats when the platform limits the entire account', async () => {
    await scene.owe('c', ['one']);
    await scene.owe('d', ['two']);
    const pacer = createPacer();
    scene.answer('c', { kind: 'rate-limited', retryAfterMs: 5_000, scope: 'account' });
    expect(await deliver({ pacer })).toBe(5_000);
    expect(await deliver({ pacer }, { ...CHAT, chatId: 'd' })).toBe(5_000);
    now += 5_000;
    await deliver({ pacer }, { ...CHAT, chatId: 'd' });
    expect(seen('d')).toEqual(['two']);
  });

  it('[D05] sends the rest of a chat at its rate, not in a burst, after the platform limited it', async () => {
    await scene.owe('c', ['one', 'two']);
    const pacer = createPacer({ direct: { burst: 3, everyMs: 700 } });
    scene.answer('c', { kind: 'rate-limited', retryAfterMs: 5_000, scope: 'chat' });
    expect(await deliver({ pacer })).toBe(5_000);
    now += 5_000;
    expect(await deliver({ pacer })).toBe(700);
    expect(seen()).toEqual(['one']);
  });

  it('[D04] sends all pending parts in order', async () => {
    await scene.owe('c', ['one', 'two']);
    await scene.owe('c', ['three']);
    expect(await deliver()).toBeNull();
    expect(seen()).toEqual(['one', 'two', 'three']);
    expect(await scene.states('c')).toEqual(['sent', 'sent', 'sent']);
    expect(points.slice(0, 2)).toEqual(['part-sending', 'part-sent']);
  });

  /** An outbox whose database fails twice whenever the outcome of a send is stored. */
  function failingOutbox(code: StoreError['code']): DeliveryDeps['outbox'] {
    const { outbox } = scene.store;
    const later = <Args extends unknown[], Result>(work: (...args: Args) => Promise<Result>) => {
      let failures = 0;
      return (...args: Args): Promise<Result> => {
        failures = (failures + 1) % 3;
        if (failures === 0) return work(...args);
        return Promise.reject(new StoreError(code, 'no database'));
      };
    };
    const { markSent, retryLater, markFailed } = outbox;
    return {
      ...outbox,
      markSent: later(markSent),
      retryLater: later(retryLater),
      markFailed: later(markFailed),
    };
  }

  describe.each([
    'store-unreachable',
    'store-busy',
    'store-full',
    'store-unwritable',
    'store-refused',
    'store-failed',
  ] as const)('while the database is failing (%s)', (code) => {
    it('[D04] stores that a message part was sent', async () => {
      await scene.owe('c', ['one', 'two']);
      expect(await deliver({ outbox: failingOutbox(code) })).toBeNull();
      expect(seen()).toEqual(['one', 'two']);
      expect(await scene.states('c')).toEqual(['sent', 'sent']);
    });

    it('[D04] stores that a message part was not sent, and sends it again', async () => {
      await scene.owe('c', ['one']);
      scene.answer('c', { kind: 'transient' });
      now += (await deliver({ outbox: failingOutbox(code) })) ?? 0;
      expect(await scene.states('c')).toEqual(['pending']);
      await deliver();
      expect(seen()).toEqual(['one']);
    });

    it('[D04] [D05] stores that a message part was refused', async () => {
      await scene.owe('c', ['one']);
      scene.answer('c', { kind: 'refused' });
      await deliver({ outbox: failingOutbox(code) });
      expect(await scene.states('c')).toEqual(['failed', 'sent']);
    });

    it('[D04] stores that a message part was found on the platform', async () => {
      await scene.owe('c', ['one']);
      await dieWhileSending(true);
      const answers = ['m9'];
      const findSent = async () => answers.pop();
      await deliver({ outbox: failingOutbox(code), findSent });
      expect(await scene.states('c')).toEqual(['sent']);
      expect(scene.sends).toEqual(['c: one']);
    });
  });

  it('[D04] leaves the outcome of a send open when the database is corrupt, and when the process is killed', async () => {
    await scene.owe('c', ['one']);
    const damaged = new StoreError('store-damaged', 'damaged');
    const outbox = { ...scene.store.outbox, markSent: () => Promise.reject(damaged) };
    await expect(deliver({ outbox })).rejects.toBe(damaged);
    const ending = new AbortController();
    const full = new StoreError('store-full', 'full');
    const markSent = async () => {
      ending.abort();
      throw full;
    };
    await scene.owe('d', ['two']);
    const ended = deliverChat(
      deps({ outbox: { ...scene.store.outbox, markSent } }),
      { ...CHAT, chatId: 'd' },
      ending.signal,
    );
    await expect(ended).rejects.toBe(full);
    expect(await scene.states('c')).toEqual(['sending']);
    expect(await scene.states('d')).toEqual(['sending']);
  });

  it('[D04] durably marks a message part as sending before it calls the platform', async () => {
    await scene.owe('c', ['one']);
    let during: readonly string[] = [];
    const send = async (part: OutboundPart, signal: AbortSignal) => {
      during = await scene.states('c');
      return scene.send(part, signal);
    };
    await deliver({ send });
    expect(during).toEqual(['sending']);
  });

  it('[D05] stops at a message part that must wait, so that no later part overtakes it', async () => {
    await scene.owe('c', ['one', 'two']);
    scene.answer('c', { kind: 'rate-limited', retryAfterMs: 7_000, scope: 'chat' });
    expect(await deliver()).toBe(7_000);
    expect(await deliver()).toBe(7_000);
    expect(seen()).toEqual([]);
    now += 7_000;
    expect(await deliver()).toBeNull();
    expect(seen()).toEqual(['one', 'two']);
  });

  it('[D05] follows a platform that keeps requesting a delay for hours: no attempt is counted, and all parts arrive in order', async () => {
    await scene.owe('c', ['one', 'two']);
    const fiveMinutes = { kind: 'rate-limited', retryAfterMs: 300_000, scope: 'chat' } as const;
    scene.answer('c', ...Array.from({ length: 30 }, () => fiveMinutes));
    await scene.owe('d', ['quick']);
    for (let asked = 1; asked <= 30; asked += 1) {
      expect(await deliver()).toBe(300_000);
      now += 300_000;
    }
    await deliver({}, { ...CHAT, chatId: 'd' });
    expect([seen(), seen('d')]).toEqual([[], ['quick']]);
    await scene.owe('c', ['three'], now);
    expect(await deliver()).toBeNull();
    expect(seen()).toEqual(['one', 'two', 'three']);
    expect(scene.sends.filter((send) => send.startsWith('c:'))).toHaveLength(33);
  });

  it('[D05] gives up a message part after eight attempts, notifies the chat, and continues with the next one', async () => {
    await scene.owe('c', ['one', 'two']);
    scene.answer('c', ...Array.from({ length: 8 }, () => ({ kind: 'transient' }) as const));
    for (let wait = await deliver(); wait !== null; wait = await deliver()) now += wait;
    expect(seen()).toEqual(['two', expect.stringContaining('the platform says transient')]);
    expect(await scene.states('c')).toEqual(['failed', 'sent', 'sent']);
  });

  it.each(['refused', 'refused-format'] as const)(
    '[D05] notifies the chat once that a message part was %s, and continues',
    async (kind) => {
      await scene.owe('c', ['one', 'two']);
      scene.answer('c', { kind });
      await deliver();
      expect(seen()).toEqual(['two', expect.stringContaining(`the platform says ${kind}`)]);
    },
  );

  it('[D05] reports a failed message part in one unnumbered message, even when parts are numbered', async () => {
    const target = { ...CAPABILITIES.target, maxLength: 40, numbered: true } as const;
    const body = { text: 'one', plain: 'one' };
    await scene.store.outbox.enqueue([{ route: { ...CHAT, target }, body }], now);
    scene.answer('c', { kind: 'refused' });
    await deliver();
    expect(seen()).toEqual([expect.not.stringContaining('(1/')]);
  });

  it.each(['gone', 'forbidden'] as const)(
    '[D05] sends neither a notice nor the rest of the answer to a chat that is %s',
    async (kind) => {
      await scene.owe('c', ['one', 'two', 'three']);
      scene.answer('c', { kind });
      const told: string[] = [];
      await deliver({
        notifyOwner: async (key, text) => void told.push(key, text),
        chatName: async () => 'Family',
      });
      expect(told).toEqual([
        expect.stringContaining('closed'),
        expect.stringContaining('delivered to Family (`test c`)'),
      ]);
      expect(await scene.states('c')).toEqual(['failed', 'failed', 'failed']);
      expect(scene.sends).toHaveLength(1);
      await scene.owe('c', ['later']);
      await deliver();
      expect(scene.sends).toHaveLength(2);
    },
  );

  it('[D05] does not report a failed notice, to avoid an endless loop', async () => {
    await scene.owe('c', ['one']);
    scene.answer('c', { kind: 'refused' }, { kind: 'refused' });
    await deliver();
    expect(await scene.states('c')).toEqual(['failed', 'failed']);
  });

  it('[D04] treats an unexpected error of an adapter as an unknown outcome, and reports it', async () => {
    await scene.owe('c', ['one']);
    const { log, lines } = createRecordingLogger();
    const send = () => Promise.reject(new TypeError('x is not a function'));
    await deliver({ send, log });
    expect((await scene.states('c'))[0]).toBe('unknown');
    expect(lines[0]).toContain('adapter defect');
  });

  it('[D16] reads once, and records a receipt together with the start of the next part', async () => {
    await scene.owe('c', ['one', 'two', 'three']);
    const calls: string[] = [];
    const { outbox } = scene.store;
    const counted = new Proxy(outbox, {
      get(target, name: keyof typeof outbox) {
        const work: (...args: never[]) => unknown = target[name];
        return (...args: never[]) => {
          calls.push(name);
          return work(...args);
        };
      },
    });
    expect(await deliver({ outbox: counted })).toBeNull();
    expect(calls).toEqual(['unfinished', 'markSending', 'markSent', 'markSent', 'markSent']);
    expect(seen()).toEqual(['one', 'two', 'three']);
  });

  it('[D04] sends more parts than one query returns, in order', async () => {
    const texts = Array.from({ length: 25 }, (_, index) => `${index}`);
    await scene.owe('c', texts.slice(0, 10));
    await scene.owe('c', texts.slice(10));
    expect(await deliver()).toBeNull();
    expect(seen()).toEqual(texts);
  });

  it('[D04] does not send a message part that was removed from the outbox after it was read', async () => {
    await scene.owe('c', ['one', 'two', 'three']);
    const { outbox } = scene.store;
    const unfinished: typeof outbox.unfinished = async (...chat) => {
      const due = await outbox.unfinished(...chat);
      const [first] = due;
      if (first?.part.body.text === 'one' && (await outbox.markSending(first.part.id, now)))
        await outbox.markFailed(first.part.id, 'failed', 'withdrawn', now, null);
      return due;
    };
    await deliver({ outbox: { ...outbox, unfinished } });
    expect(seen()).toEqual(['two', 'three']);
  });

  it("[D04] does not send further parts of an answer when its asker's data is erased during the first part", async () => {
    await scene.owe('c', ['one', 'two', 'three']);
    const send = async (part: OutboundPart, signal: AbortSignal) => {
      const receipt = await scene.send(part, signal);
      await scene.store.forgetting.forgetPerson({
        persons: ['test:u'],
        ownersToo: false,
        only: null,
        now,
        onStopped: () => undefined,
        retell: () => undefined,
      });
      return receipt;
    };
    await deliver({ send });
    expect(seen()).toEqual(['one']);
    expect(await scene.states('c')).toEqual(['sent']);
  });

  it('[D11] does not mark further parts after a hand-over to another process', async () => {
    await scene.owe('c', ['one', 'two']);
    await deliver({ isEnding: () => scene.sends.length > 0 });
    expect(await scene.states('c')).toEqual(['sent', 'pending']);
  });

  it('[D11] aborts a send in progress on request, and its outcome is unknown', async () => {
    await scene.owe('c', ['one']);
    const stop = new AbortController();
    const send = (_part: OutboundPart, signal: AbortSignal) =>
      new Promise<never>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('cut off')));
        stop.abort();
      });
    expect(await deliverChat(deps({ send }), CHAT, stop.signal)).toBeNull();
    expect(await scene.states('c')).toEqual(['unknown', 'pending']);
  });
});

describe('a message part that was being sent when the process crashed', () => {
  it.each([true, false])(
    '[D04] is reported as uncertain once, and not sent again when the platform would duplicate it (arrived: %s)',
    async (arrived) => {
      await scene.owe('c', ['one', 'two']);
      await dieWhileSending(arrived);
      await deliver();
      await deliver();
      const notice = '⚙️ I was interrupted while sending a message';
      expect(seen()).toEqual([...(arrived ? ['one'] : []), 'two', expect.stringContaining(notice)]);
      expect(await scene.states('c')).toEqual(['unknown', 'sent', 'sent']);
    },
  );

  it.each([true, false])(
    '[D04] is sent again when the platform recognizes its key, and appears once (arrived: %s)',
    async (arrived) => {
      await scene.owe('c', ['one', 'two']);
      await dieWhileSending(arrived);
      await deliver({ capabilities: { idempotentSend: true, buttons: true } });
      expect(seen()).toEqual(['one', 'two']);
      expect(scene.sends).toHaveLength(3);
      expect(await scene.states('c')).toEqual(['sent', 'sent']);
    },
  );

  it('[D04] is reported as uncertain when the platform has forgotten its key', async () => {
    const capabilities = { idempotentSend: true, idempotentForMs: 60_000, buttons: true };
    await scene.owe('c', ['one']);
    await dieWhileSending(true);
    now += 60_001;
    await deliver({ capabilities });
    expect(seen()).toEqual(['one', expect.stringContaining('interrupted while sending')]);
    expect(await scene.states('c')).toEqual(['unknown', 'sent']);
  });

  it('[D04] is reported as uncertain, not repeated, when the process stalled until the platform had forgotten its key', async () => {
    const capabilities = { idempotentSend: true, idempotentForMs: 60_000, buttons: true };
    await scene.owe('c', ['one']);
    const send = async (part: OutboundPart, signal: AbortSignal) => {
      const receipt = await scene.send(part, signal);
      if (part.noticeOf !== undefined) return receipt;
      now += 60_001;
      throw new ChannelError({ kind: 'unknown-outcome' }, 'the connection was lost');
    };
    await deliver({ capabilities, send });
    expect(seen()).toEqual(['one', expect.stringContaining('interrupted while sending')]);
    expect(await scene.states('c')).toEqual(['unknown', 'sent']);
  });

  it('[D04] is reported as uncertain when its next attempt came after the platform had forgotten its key', async () => {
    const capabilities = { idempotentSend: true, idempotentForMs: 60_000, buttons: true };
    await scene.owe('c', ['one']);
    const lost = async (part: OutboundPart, signal: AbortSignal) => {
      await scene.send(part, signal);
      throw new ChannelError({ kind: 'unknown-outcome' }, 'the connection was lost');
    };
    await deliver({ capabilities, send: lost });
    expect(await scene.states('c')).toEqual(['pending']);
    now += 60_001;
    await deliver({ capabilities });
    expect(seen()).toEqual(['one', expect.stringContaining('interrupted while sending')]);
    expect(await scene.states('c')).toEqual(['unknown', 'sent']);
  });

  it.each(['a lost answer', 'the death of the process'])(
    '[D04] is reported as uncertain after %s and a long series of refusals, when the platform has forgotten its key',
    async (how) => {
      const capabilities = { idempotentSend: true, idempotentForMs: 60_000, buttons: true };
      await scene.owe('c', ['one']);
      const lost = async (part: OutboundPart, signal: AbortSignal) => {
        await scene.send(part, signal);
        throw new ChannelError({ kind: 'unknown-outcome' }, 'the connection was lost');
      };
      const refused = async () => {
        throw new ChannelError({ kind: 'rate-limited', retryAfterMs: 1_000, scope: 'chat' }, 'no');
      };
      if (how === 'a lost answer') await deliver({ capabilities, send: lost });
      else await dieWhileSending(true);
      now += 40_000;
      await deliver({ capabilities, send: refused });
      expect(await scene.states('c')).toEqual(['pending']);
      now += 40_000;
      await deliver({ capabilities });
      expect(scene.sends.filter((send) => send === 'c: one')).toHaveLength(1);
      expect(await scene.states('c')).toEqual(['unknown', 'sent']);
    },
  );

  it('[D04] is not repeated even when it answers a command instead of a message', async () => {
    const route = { ...CHAT, target: CAPABILITIES.target };
    await scene.store.outbox.enqueue([{ route, body: { text: 'status', plain: 'status' } }], now);
    await dieWhileSending(true);
    await deliver();
    expect(seen()).toEqual(['status', expect.stringContaining('interrupted while sending')]);
  });

  it.each([true, false])(
    '[D04] is reported even when the process crashes again during the report (arrived: %s)',
    async (arrived) => {
      await scene.owe('c', ['one']);
      await dieWhileSending(false);
      await dieWhileSending(arrived);
      await deliver();
      const { markdown } = createUncertainNotice('', true);
      expect(seen()).toEqual([markdown]);
      expect(scene.sends).toEqual(['c: one', `c: ${markdown}`, `c: ${markdown}`]);
      expect(await scene.states('c')).toEqual(['unknown', 'sent']);
    },
  );

  it.each([
    [
      true,
      [
        {
          label: 'Send it again',
          data: expect.stringMatching(/^\/resend .{1,25}$/),
          style: 'primary',
        },
      ],
    ],
    [false, undefined],
  ])('[D04] [G08] can be sent again from the notice (buttons: %s)', async (buttons, shown) => {
    await scene.owe('c', ['one']);
    await dieWhileSending(true);
    await deliver({ capabilities: { idempotentSend: false, buttons } });
    const [, notice] = await scene.store.outbox.recent(CHAT, 2);
    expect(notice?.part.buttons).toEqual(shown);
    expect(notice?.part.body.text).toMatch(buttons ? /^⚙️ .*I can send it/s : /^⚙️ .*\/resend/s);
  });

  it('[D04] is sent again without a notice when its request had not started', async () => {
    await scene.owe('c', ['one', 'two']);
    const notes = notesOnDisk();
    const died = new Error('killed');
    const killed = { ...scene.store.outbox, retryLater: () => Promise.reject(died) };
    const send = () => Promise.reject(new ChannelError({ kind: 'transient' }, 'not started'));
    await expect(deliver({ notes, outbox: killed, send })).rejects.toBe(died);
    expect(await scene.states('c')).toEqual(['sending', 'pending']);
    await deliver({ notes: notesOnDisk() });
    expect(seen()).toEqual(['one', 'two']);
  });

  it("[D04] is sent without a notice when it was marked together with the previous part's receipt", async () => {
    await scene.owe('c', ['one', 'two']);
    const notes = notesOnDisk();
    const died = new Error('killed');
    const pass = (point: string) => {
      if (point === 'part-recorded') throw died;
    };
    await expect(deliver({ notes, checkpoint: pass })).rejects.toBe(died);
    expect(await scene.states('c')).toEqual(['sent', 'sending']);
    await deliver({ notes: notesOnDisk() });
    expect(seen()).toEqual(['one', 'two']);
  });

  it('[D04] counts as arrived when the platform had confirmed it, and is not sent again', async () => {
    await scene.owe('c', ['one', 'two']);
    const notes = notesOnDisk();
    const died = new Error('killed');
    const killed = { ...scene.store.outbox, markSent: () => Promise.reject(died) };
    await expect(deliver({ notes, outbox: killed })).rejects.toBe(died);
    await deliver({ notes: notesOnDisk() });
    expect(seen()).toEqual(['one', 'two']);
    expect(await scene.states('c')).toEqual(['sent', 'sent']);
  });

  it.each([
    ['m9', ['sent', 'sent']],
    [undefined, ['unknown', 'sent', 'sent']],
  ])(
    '[D04] is searched for on platforms with a message search (found: %s)',
    async (found, states) => {
      await scene.owe('c', ['one', 'two']);
      await dieWhileSending(true);
      const asked: ChatStateBeforePart[] = [];
      const findSent: DeliveryDeps['findSent'] = async (_part, before) => {
        asked.push(before);
        return found;
      };
      await deliver({ findSent });
      expect(await scene.states('c')).toEqual(states);
      expect(scene.sends.slice(0, 2)).toEqual(['c: one', 'c: two']);
      const question = { chatId: 'c', messageId: 'turn-1', direction: 'in', at: 0 };
      expect(asked).toEqual([{ known: [question], uncertainAt: null }]);
    },
  );

  it('[D04] is sent again when the chat certainly lacks it, once its request can no longer be in flight', async () => {
    await scene.owe('c', ['one', 'two']);
    await dieWhileSending(false);
    const findSent = async () => null;
    now += 1_000;
    expect(await deliver({ findSent })).toBe(9_000);
    expect(seen()).toEqual([]);
    now += 9_000;
    expect(await deliver({ findSent })).toBeNull();
    expect(seen()).toEqual(['one', 'two']);
  });

  it('[D04] is not sent again after a search that began while its request could be in flight', async () => {
    await scene.owe('c', ['one']);
    await dieWhileSending(false);
    now += 1_000;
    const slow = async () => {
      now += 9_500;
      return null;
    };
    expect(await deliver({ findSent: slow })).toBe(9_000);
    expect(seen()).toEqual([]);
  });

  it('[D04] is found on the platform when its request arrives late', async () => {
    await scene.owe('c', ['one']);
    await dieWhileSending(false);
    const answers = [null, 'm9'];
    const findSent = async () => answers.shift();
    expect(await deliver({ findSent })).toBe(10_000);
    now += 10_000;
    expect(await deliver({ findSent })).toBeNull();
    expect(await scene.states('c')).toEqual(['sent']);
    expect(seen()).toEqual([]);
  });

  it('[D04] is uncertain when its request had started', async () => {
    const notes = notesOnDisk();
    const died = new Error('killed');
    const killed = { ...scene.store.outbox, markFailed: () => Promise.reject(died) };
    await scene.owe('c', ['one', 'two']);
    const send = (_part: OutboundPart, _signal: AbortSignal, started: () => void) => {
      started();
      return Promise.reject(new ChannelError({ kind: 'unknown-outcome' }, 'reset'));
    };
    await expect(deliver({ notes, outbox: killed, send })).rejects.toBe(died);
    await deliver({ notes: notesOnDisk() });
    expect(seen()).toEqual(['two', expect.stringContaining('cannot tell whether it arrived')]);
  });

  it.each([true, false])(
    '[D04] is sent again immediately if the settings require it (arrived: %s)',
    async (arrived) => {
      await scene.owe('c', ['one', 'two']);
      await dieWhileSending(arrived);
      await deliver({ whenUncertain: 'resend' });
      expect(scene.sends).toEqual(['c: one', 'c: one', 'c: two']);
      expect(await scene.states('c')).toEqual(['sent', 'sent']);
    },
  );

  it('[D04] is also sent again after a lost response if the settings require it', async () => {
    await scene.owe('c', ['one']);
    scene.answer('c', { kind: 'unknown-outcome' });
    now += (await deliver({ whenUncertain: 'resend' })) ?? 0;
    await deliver({ whenUncertain: 'resend' });
    expect(await scene.states('c')).toEqual(['sent']);
  });
});
