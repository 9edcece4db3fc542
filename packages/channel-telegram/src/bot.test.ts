import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { connectTelegram, createBot, type Intake } from './bot.ts';
import type { CallOptions, MakeCall } from './calls.ts';
import { UPDATE_KINDS, type WireUpdate } from './wire.ts';

const TOKEN = '7000000001:token-of-the-bot';
const me = { id: 7_000_000_001, username: 'parley_test_bot' };
const noCall: MakeCall = () => Promise.reject(new Error('no call is expected'));

/**
 * A bot whose readers record the updates they receive; `read` decides whether each of them resolves
 * or rejects.
 */
function botWith(read: (name: string, content: unknown) => Promise<void> = async () => {}) {
  const reached: [reader: string, content: unknown][] = [];
  const reader = (name: string) => async (content: unknown) => {
    reached.push([name, content]);
    await read(name, content);
  };
  // A proxy, so that new kinds of readers are covered as well.
  const intake = new Proxy({} as Intake, {
    get: (_, name) => (name === 'prepare' ? async () => {} : reader(String(name))),
  });
  const { signal: stopping } = new AbortController();
  return { reached, ...createBot({ token: TOKEN, call: noCall, stopping, intake }) };
}

afterEach(() => {
  vi.useRealTimers();
});

describe('an update that enters the bot', () => {
  it.each(UPDATE_KINDS)('[F01] of kind %s reaches its reader once and unchanged', async (kind) => {
    const content = { some: 'content' };
    const { reached, admit } = botWith();
    await admit({ update_id: 1, [kind]: content }, me);
    expect(reached).toEqual([[expect.not.stringMatching('unknown'), content]]);
  });

  it.each<[string, object]>([
    ['of an unknown kind', { kind_of_next_year: {} }],
    ['of a kind that has the name of a field of messages', { poll: { id: '1' } }],
    ['without content', {}],
  ])('[F16] %s is not lost', async (_what, content) => {
    const update = { update_id: 1, ...content };
    const { reached, admit } = botWith();
    await admit(update, me);
    expect(reached).toEqual([['unknown', update]]);
  });

  it.each(['a text', null, 7])(
    '[F01] with the message %j is passed to its reader, which validates it',
    async (message) => {
      const { reached, admit } = botWith();
      await admit({ update_id: 1, message }, me);
      expect(reached).toEqual([['message', message]]);
    },
  );

  it('[D01] is admitted only after its reader has resolved', async () => {
    const stored = Promise.withResolvers<void>();
    const { admit } = botWith(() => stored.promise);
    let isAdmitted = false;
    const admitting = admit({ update_id: 1, message: {} }, me).then(() => {
      isAdmitted = true;
    });
    await sleep(20);
    expect(isAdmitted).toBe(false);
    stored.resolve();
    await admitting;
  });

  it('[D01] is not admitted when its reader fails, and the error does not crash the process', async () => {
    const printed = vi.spyOn(console, 'error');
    const before = process.exitCode;
    const failure = new Error('disk is full');
    const { admit } = botWith(() => Promise.reject(failure));
    await expect(admit({ update_id: 1, message: {} }, me)).rejects.toBe(failure);
    await expect(admit({ update_id: 2, of_next_year: {} }, me)).rejects.toBe(failure);
    expect([process.exitCode, printed.mock.calls]).toEqual([before, []]);
    printed.mockRestore();
  });

  it('[D13] is not admitted, and is abandoned, when its reader does not resolve within a minute', async () => {
    vi.useFakeTimers();
    const { admit } = botWith(() => new Promise(() => {}));
    const admitting = admit({ update_id: 1, message: {} }, me).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await admitting).toMatchObject({ name: 'TimeoutError' });
  });
});

describe("telegraf's methods", () => {
  /** Records the arguments of each call. */
  function recorded() {
    const calls: [method: string, payload: object, options: CallOptions][] = [];
    const call: MakeCall = async (...made) => {
      calls.push(made);
      return { title: 'Family' };
    };
    const { signal } = new AbortController();
    return { calls, signal, telegram: connectTelegram(TOKEN, call, signal) };
  }

  it("[D13] make Parley's calls, which time out after 15 s and are aborted when the adapter stops", async () => {
    const { calls, signal, telegram } = recorded();
    expect(await telegram.getChat(-5)).toEqual({ title: 'Family' });
    expect(calls).toEqual([['getChat', { chat_id: -5 }, { signal, limitMs: 15_000 }]]);
  });

  it('[F18] reach a method that telegraf does not know, with their own time limits', async () => {
    const { calls, telegram } = recorded();
    const own = { signal: new AbortController().signal, limitMs: undefined, silentMs: 7 };
    await telegram.callApi('methodOfNextYear', { chat_id: 1, blocks: [] }, own);
    expect(calls).toEqual([['methodOfNextYear', { chat_id: 1, blocks: [] }, own]]);
  });

  it("are identical to those in an update's context", async () => {
    const { calls, signal } = recorded();
    const call: MakeCall = async (...made) => calls.push(made);
    const intake = {
      prepare: async () => {},
      // The context of telegraf, which the readers do not see.
      message: async (_content: unknown, event: object) => {
        await (event as { telegram: ReturnType<typeof connectTelegram> }).telegram.getMe();
      },
    } as unknown as Intake;
    const { admit } = createBot({ token: TOKEN, call, stopping: signal, intake });
    await admit({ update_id: 1, message: {} } as WireUpdate, me);
    expect(calls).toEqual([['getMe', {}, { signal, limitMs: 15_000 }]]);
  });
});
