import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { REAL_LIMITS, type RestFault } from '@parley/simulators/discord';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { noSignal, readFailure } from '../adapter-core.ts';
import { ANN, createPart, endScenes, startDiscordScene } from './adapter-scene.ts';

afterEach(endScenes);

const bodyOf = (call: { readonly body: unknown } | undefined) => call?.body;

describe('sending to Discord', () => {
  it('[F11] sends to a channel and a thread, quoting the question, without pings, and with its key', async () => {
    const { double, adapter } = await startDiscordScene();
    const thread = double.thread({ channel: double.channelId, name: 'plans', from: ANN });
    const question = double.say({ channel: thread, from: ANN, text: 'q' });
    const text = `**a** @everyone <@${ANN}>`;
    const route = { threadId: thread, replyTo: question.id };
    const receipt = await adapter.send(createPart(double.channelId, text, route), noSignal());
    const [sent, ...more] = double.sends();
    expect(more).toEqual([]);
    expect(sent).toMatchObject({
      route: { channelId: double.channelId, threadId: thread },
      replyTo: question.id,
      nonce: 'key-of-part-1',
      pings: { everyone: false, users: [], roles: [], repliedUser: false },
    });
    expect(receipt).toEqual({ platformMessageId: sent?.messageId });
    expect(bodyOf(double.calls('POST /channels/')[0])).toMatchObject({
      enforce_nonce: true,
      allowed_mentions: { parse: [] },
      message_reference: { fail_if_not_exists: false },
      flags: 4,
    });
  });

  it('quotes the question only in the first part of an answer', async () => {
    const { double, adapter } = await startDiscordScene();
    const question = double.say({ channel: double.channelId, from: ANN, text: 'q' });
    for (const index of [0, 1]) {
      const more = { replyTo: question.id, index, idempotencyKey: `k${index}` };
      await adapter.send(createPart(double.channelId, `part ${index}`, more), noSignal());
    }
    expect(double.sends().map(({ replyTo }) => replyTo)).toEqual([question.id, undefined]);
  });

  it('[M05] sends mentions that notify people only if the settings allow it', async () => {
    const { double, adapter } = await startDiscordScene();
    double.say({ channel: double.channelId, from: ANN, text: 'q' });
    await adapter.send(createPart(double.channelId, `<@${ANN}>`, { mentions: 'live' }), noSignal());
    expect(double.sends()[0]?.pings.users).toEqual([ANN]);
  });

  it('sends an answer whose question was deleted', async () => {
    const { double, adapter } = await startDiscordScene();
    await adapter.send(
      createPart(double.channelId, 'a', { replyTo: '111111111111111111' }),
      noSignal(),
    );
    expect(double.conversation(double.channelId)).toMatchObject([{ visible: 'a', from: 'bot' }]);
  });

  it('[D04] shows one message when the same part is sent twice', async () => {
    const { double, adapter } = await startDiscordScene();
    const once = createPart(double.channelId, 'a');
    const first = await adapter.send(once, noSignal());
    expect(await adapter.send(once, noSignal())).toEqual(first);
    expect(double.conversation(double.channelId)).toHaveLength(1);
  });

  it.each<[RestFault, string]>([
    [{ kind: 'hang-up' }, 'unknown-outcome'],
    [{ kind: 'hang-up', after: true }, 'unknown-outcome'],
    [{ kind: 'reset' }, 'unknown-outcome'],
    [{ kind: 'reset', after: true }, 'unknown-outcome'],
    [{ kind: 'garbage', after: true }, 'unknown-outcome'],
    [{ kind: 'status', status: 500, after: true }, 'unknown-outcome'],
    [{ kind: 'status', status: 502 }, 'unknown-outcome'],
  ])(
    '[D04] shows one message after %o when the core repeats the part, with one call each',
    async (fault, kind) => {
      const { double, adapter } = await startDiscordScene();
      double.fault(fault);
      const once = createPart(double.channelId, 'a');
      expect(await readFailure(adapter.send(once, noSignal()))).toEqual({ kind });
      expect(double.calls('POST /channels/')).toHaveLength(1);
      await adapter.send(once, noSignal());
      expect(double.conversation(double.channelId)).toHaveLength(1);
    },
  );

  it('[D05] sends nothing while Discord cannot be reached, and reports that', async () => {
    const { double, adapter } = await startDiscordScene();
    await double.close();
    expect(await readFailure(adapter.send(createPart(double.channelId, 'a'), noSignal()))).toEqual({
      kind: 'transient',
      untried: true,
    });
  });

  it('[D04] reports an unknown outcome when a send is aborted halfway, but not when it was aborted before', async () => {
    const { double, adapter } = await startDiscordScene();
    double.fault({ kind: 'hang' });
    const calling = new AbortController();
    const sending = adapter.send(createPart(double.channelId, 'a'), calling.signal);
    await double.waitFor(() => double.calls('POST /channels/').length > 0);
    calling.abort();
    expect(await readFailure(sending)).toEqual({ kind: 'unknown-outcome' });
    expect(
      await readFailure(adapter.send(createPart(double.channelId, 'a'), calling.signal)),
    ).toEqual({
      kind: 'transient',
    });
  });

  it.each<[number, number, string]>([
    [403, 50013, 'forbidden'],
    [403, 50001, 'forbidden'],
    [403, 50007, 'forbidden'],
    [404, 10003, 'gone'],
    [400, 50035, 'refused'],
    [400, 50006, 'refused'],
    [400, 160005, 'forbidden'],
    [401, 0, 'transient'],
  ])(
    '[D05] does not resend a part that Discord has refused: %i with %i means %s',
    async (status, code, kind) => {
      const { double, adapter } = await startDiscordScene();
      double.fault({ kind: 'refuse', status, code, message: 'No' });
      expect(
        await readFailure(adapter.send(createPart(double.channelId, 'a'), noSignal())),
      ).toEqual({
        kind,
      });
      // Sending works even after a 401, which makes discord.js forget the token.
      await adapter.send(createPart(double.channelId, 'b'), noSignal());
      expect(double.conversation(double.channelId)).toMatchObject([{ visible: 'b' }]);
    },
  );

  it('[D05] does not send to closed channels, and reports how to open them', async () => {
    const { double, adapter } = await startDiscordScene();
    double.deny(double.channelId, 'send');
    const sending = adapter.send(createPart(double.channelId, 'a'), noSignal());
    await expect(sending).rejects.toThrow('Send Messages');
    const dm = double.dmWith(ANN);
    double.closeDms(ANN);
    const failure = await readFailure(adapter.send(createPart(dm, 'a'), noSignal()));
    expect(failure).toEqual({ kind: 'forbidden' });
    const gone = await readFailure(adapter.send(createPart('111111111111111111', 'a'), noSignal()));
    expect(gone).toEqual({ kind: 'gone' });
  });

  it('[D05] does not send anything that is too long or too large, and reports the reason', async () => {
    const { double, adapter } = await startDiscordScene();
    const long = adapter.send(createPart(double.channelId, 'x'.repeat(2_001)), noSignal());
    expect(await readFailure(long)).toEqual({ kind: 'refused' });
    const path = join(tmpdir(), `parley-discord-large-${process.pid}`);
    await writeFile(path, Buffer.alloc(11 * 1024 * 1024));
    const file = { kind: 'document', name: 'a.bin', mimeType: 'application/x', path } as const;
    const large = adapter.send(createPart(double.channelId, 'x', { file }), noSignal());
    await expect(large).rejects.toThrow('larger than this server allows');
    await rm(path);
  });

  it.each([
    [false, 'chat'],
    [true, 'account'],
  ])('[D05] sends later when the wait is long (for all: %s)', async (global, scope) => {
    const { double, adapter } = await startDiscordScene();
    double.fault({ kind: 'rate-limit', retryAfterMs: 60_000, global });
    const failure = await readFailure(adapter.send(createPart(double.channelId, 'a'), noSignal()));
    expect(failure).toMatchObject({ kind: 'rate-limited', scope });
    expect(failure).toMatchObject({ retryAfterMs: expect.closeTo(60_000, -3) });
  });

  it('[D05] sends without extra delay in a full channel when the local clock is set back', async () => {
    const { now } = Date;
    const { double, adapter } = await startDiscordScene({
      double: { limits: REAL_LIMITS, clock: () => now() },
    });
    const send = (n: number) => {
      const more = { id: `part_${n}`, idempotencyKey: `key ${n}`, index: n };
      return adapter.send(createPart(double.channelId, `no. ${n}`, more), noSignal());
    };
    for (let n = 1; n <= 5; n += 1) await send(n);
    vi.useFakeTimers({ toFake: ['Date'], now: now() - 3_600_000, shouldAdvanceTime: true });
    onTestFinished(() => void vi.useRealTimers());
    await send(6);
    expect(double.sends()).toHaveLength(6);
  });

  it("[D05] sends six messages in a row within a channel's rate limit, in order and without a refusal", async () => {
    const { double, adapter } = await startDiscordScene({ double: { limits: REAL_LIMITS } });
    for (let n = 1; n <= 6; n += 1) {
      const more = { id: `part_${n}`, idempotencyKey: `key ${n}`, index: n };
      await adapter.send(createPart(double.channelId, `no. ${n}`, more), noSignal());
    }
    expect(double.sends().map(({ visible }) => visible)).toEqual(
      [1, 2, 3, 4, 5, 6].map((n) => `no. ${n}`),
    );
    expect(double.calls('POST /channels/').map(({ outcome }) => outcome)).not.toContain(429);
  });

  it('[F10] sends a file with its caption, and buttons in rows of five', async () => {
    const { double, adapter } = await startDiscordScene();
    const path = join(tmpdir(), `parley-discord-${process.pid}.txt`);
    await writeFile(path, 'what is in it');
    const file = { kind: 'document', name: 'nötes "1".txt', mimeType: 'text/plain', path } as const;
    const buttons = ['a', 'b', 'c', 'd', 'e', 'f'].map((label) => ({ label, data: 'same' }));
    await adapter.send(createPart(double.channelId, 'look', { file, buttons }), noSignal());
    const [sent] = double.sends();
    expect(sent).toMatchObject({ visible: 'look', attachments: [{ size: 13 }] });
    const rows = sent?.message.components ?? [];
    expect(
      rows.map(({ components }) => (Array.isArray(components) ? components.length : 0)),
    ).toEqual([5, 1]);
    const bytes = await fetch(sent?.attachments[0]?.url ?? '');
    expect(await bytes.text()).toBe('what is in it');
    const missing = { ...file, path: `${path}-missing` };
    const refused = adapter.send(createPart(double.channelId, 'x', { file: missing }), noSignal());
    expect(await readFailure(refused)).toEqual({ kind: 'refused' });
    await rm(path);
  });

  it('[F10] sends a recording as a voice message, or as a file where voice messages are not allowed', async () => {
    const { double, adapter, logged } = await startDiscordScene();
    const path = join(tmpdir(), `parley-discord-${process.pid}.ogg`);
    await writeFile(path, recording(72_000));
    const file = { kind: 'voice', name: 'voice.ogg', mimeType: 'audio/ogg', path } as const;
    const spoken = (id: string) =>
      adapter.send(createPart(double.channelId, '', { file, idempotencyKey: id }), noSignal());
    await spoken('one');
    double.fault({ kind: 'refuse', status: 403, code: 50173, message: 'No voice messages here' });
    await spoken('two');
    expect(double.sends().map(({ message }) => (message.flags & VOICE_MESSAGE) !== 0)).toEqual([
      true,
      false,
    ]);
    expect(double.sends().map(({ attachments }) => attachments.length)).toEqual([1, 1]);
    expect(logged.join('\n')).toContain('a voice message is sent as a file');
    await rm(path);
  });

  it('[F12] types, edits, deletes and reacts, and reports each refusal as a ChannelError', async () => {
    const { double, adapter } = await startDiscordScene();
    const here = { chatId: double.channelId };
    const said = double.say({ channel: double.channelId, from: ANN, text: 'q' });
    await adapter.typing?.show(here);
    expect(double.calls(`POST /channels/${double.channelId}/typing`)).toHaveLength(1);
    const { platformMessageId: id } = await adapter.send(
      createPart(double.channelId, 'a'),
      noSignal(),
    );
    const { messages } = adapter;
    await messages?.edit?.(here, id, { text: '**b**', plain: 'b' });
    await messages?.react?.(here, said.id, '👍');
    await messages?.react?.(here, said.id, '🎉');
    const seen = () => double.conversation(double.channelId);
    expect(seen()).toMatchObject([
      { reactions: [{ emoji: { name: '🎉' }, me: true }] },
      { visible: 'b', edited: true },
    ]);
    await messages?.react?.(here, said.id, undefined);
    await messages?.delete?.(here, id);
    expect(seen()).toMatchObject([{ reactions: [] }]);
    expect(await readFailure(Promise.resolve(messages?.delete?.(here, id)))).toEqual({
      kind: 'refused',
    });
  });

  it('[D11] sends even after it has stopped receiving', async () => {
    const { double, adapter, connect } = await startDiscordScene();
    await connect();
    await adapter.stop();
    await adapter.send(createPart(double.channelId, 'last words'), noSignal());
    expect(double.conversation(double.channelId)).toMatchObject([{ visible: 'last words' }]);
  });
});

const VOICE_MESSAGE = 1 << 13;

/**
 * Ogg with Opus: a page with the header, and a page that ends after the given number of samples.
 */
function recording(samples: number): Buffer {
  const page = (position: number, content: string) => {
    const header = Buffer.alloc(27);
    header.write('OggS');
    header.writeBigInt64LE(BigInt(position), 6);
    return Buffer.concat([header, Buffer.from(content.padEnd(19, '\0'))]);
  };
  return Buffer.concat([page(0, 'OpusHead'), page(samples, 'sound')]);
}
