import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDiscordServer } from '@openclaw/crabline';
import { createPrefixRenderer } from '@parley/markup';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { noSignal, readFailure } from '../adapter-core.ts';
import {
  ANN,
  createPart,
  type DiscordScene,
  endScenes,
  startDiscordScene,
} from './adapter-scene.ts';

const THREAD = '135000000000000020';
const Messages = z.array(
  z.looseObject({
    id: z.string(),
    content: z.string(),
    author: z.object({ id: z.string() }),
    attachments: z.array(z.looseObject({ filename: z.string() })).default([]),
    reactions: z.array(z.looseObject({ emoji: z.looseObject({ name: z.string() }) })).default([]),
    message_reference: z.looseObject({ message_id: z.string() }).nullish(),
  }),
);

describe('the Discord adapter against a third-party server', () => {
  let folder: string;
  let server: Awaited<ReturnType<typeof startDiscordServer>>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parley-second-peer-'));
    server = await startDiscordServer({
      recorderPath: join(folder, 'calls.jsonl'),
      botToken: 'MTM1.second.peer-by-others',
    });
  });
  afterEach(endScenes);
  afterAll(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  /** An adapter connected to the third-party server; the double is only used for waiting. */
  async function connected(): Promise<DiscordScene> {
    const { botToken: token, endpoints } = server.manifest;
    const here = await startDiscordScene({
      settings: { token, apiRoot: endpoints.apiRoot },
      commands: [{ name: 'help', summary: 'what I can do' }],
    });
    await here.connect();
    return here;
  }

  async function write(content: string, place: object = {}): Promise<void> {
    const { adminToken, endpoints, fixture } = server.manifest;
    const { channelId, guildId } = fixture;
    const response = await fetch(endpoints.adminInboundUrl, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ channelId, guildId, senderId: ANN, senderName: 'Ann', content },
        ...place,
      }),
    });
    expect(response.ok, await response.clone().text()).toBe(true);
  }

  async function shown(channelId: string) {
    const { botToken, endpoints } = server.manifest;
    const response = await fetch(`${endpoints.apiRoot}/v10/channels/${channelId}/messages`, {
      headers: { authorization: `Bot ${botToken}` },
    });
    return Messages.parse(await response.json()).reverse();
  }

  it('[F01] [F11] receives messages in a channel and a thread, and answers there with a quote', async () => {
    const here = await connected();
    const { channelId, guildId } = server.manifest.fixture;
    await write('hello');
    await write('in a thread', { channelId: THREAD, parentChannelId: channelId, guildId });
    await here.hears(2);
    const [hello, threaded] = here.received;
    expect(hello).toMatchObject({ chat: { id: channelId, type: 'group' }, text: 'hello' });
    expect(threaded).toMatchObject({ chat: { id: channelId, type: 'thread', threadId: THREAD } });
    const replyTo = hello?.messageId ?? '';
    await here.adapter.send(createPart(channelId, '**yes**', { replyTo }), noSignal());
    await here.adapter.send(
      createPart(channelId, 'here', { threadId: THREAD, id: 'p2', idempotencyKey: 'k2', index: 1 }),
      noSignal(),
    );
    expect((await shown(channelId)).at(-1)).toMatchObject({
      content: '**yes**',
      message_reference: { message_id: replyTo },
    });
    expect((await shown(THREAD)).at(-1)).toMatchObject({ content: 'here' });
  });

  it('[F12] [F10] streams, edits, types, reacts and sends files, and reports messages that are too long', async () => {
    const here = await connected();
    const { channelId } = server.manifest.fixture;
    const place = { chatId: channelId };
    const answer = createPrefixRenderer({ dialect: 'discord', maxLength: 2000, unit: 'utf16' });
    answer.push('half of a sentence '.repeat(6));
    await here.adapter.streaming?.update(place, 'turn_9', answer);
    answer.push('and a bit');
    await here.adapter.streaming?.update(place, 'turn_9', answer);
    const whole = createPart(channelId, 'all of it', { turnId: 'turn_9', idempotencyKey: 'k9' });
    const { platformMessageId: id } = await here.adapter.send(whole, noSignal());
    await here.adapter.typing?.show(place);
    await here.adapter.messages?.react?.(place, id, '👍');
    const path = join(folder, 'a.txt');
    await writeFile(path, 'what is in it');
    const file = { kind: 'document', name: 'a.txt', mimeType: 'text/plain', path } as const;
    const more = { file, turnId: null, index: null, idempotencyKey: 'k10' };
    await here.adapter.send(createPart(channelId, 'look', more), noSignal());
    expect((await shown(channelId)).slice(-2)).toMatchObject([
      { id, content: 'all of it', reactions: [{ emoji: { name: '👍' } }] },
      { content: 'look', attachments: [{ filename: 'a.txt' }] },
    ]);
    const long = createPart(channelId, 'x'.repeat(2_001), { turnId: null, index: null });
    expect(await readFailure(here.adapter.send(long, noSignal()))).toEqual({ kind: 'refused' });
  });
});
