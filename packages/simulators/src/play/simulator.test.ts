import { WebClient } from '@slack/web-api';
import { Client, Events, GatewayIntentBits, Partials } from 'discord.js';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createPlayClock } from './play-clock.ts';
import type { Simulator } from './simulator.ts';
import { startSimulator } from './start.ts';
import { PLATFORMS } from './world.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function started(platform: (typeof PLATFORMS)[number]): Promise<Simulator> {
  const simulator = await startSimulator(platform);
  closing.push(() => simulator.close());
  return simulator;
}

const chatOf = (simulator: Simulator, key: string) =>
  simulator.world().chats.find((chat) => chat.key === key);

describe('the simulator', () => {
  it.each(['telegram', 'discord', 'slack'] as const)(
    '[U04] %s: delivers messages, replies, edits and reactions, with keys for authors and messages',
    async (platform) => {
      const simulator = await started(platform);
      const friends = { chat: 'friends', from: 'ann' } as const;
      expect(await simulator.act({ kind: 'say', ...friends, text: 'one' })).toBe('ann:1');
      const bo = {
        kind: 'say',
        chat: 'friends',
        from: 'bo',
        text: 'two',
        replyTo: 'ann:1',
      } as const;
      expect(await simulator.act(bo)).toBe('bo:1');
      const base64 = Buffer.from('text of the file').toString('base64');
      const file = { name: 'a.txt', type: 'text/plain', base64 };
      expect(await simulator.act({ kind: 'say', ...friends, text: 'three', file })).toBe('ann:2');
      const place = { chat: 'friends', message: 'ann:1' } as const;
      await simulator.act({ kind: 'edit', ...place, text: 'one more' });
      await simulator.act({ kind: 'react', ...place, from: 'bo', emoji: '👍' });
      const messages = chatOf(simulator, 'friends')?.messages ?? [];
      expect(messages).toMatchObject([
        {
          key: 'ann:1',
          text: 'one more',
          isEdited: true,
          reactions: [{ emoji: '👍', by: ['bo'] }],
        },
        { key: 'bo:1', from: 'bo', replyTo: 'ann:1' },
        { key: 'ann:2', files: [{ name: 'a.txt', type: 'text/plain' }] },
      ]);
      const bytes = await simulator.file('friends', 'ann:2', 0)?.read();
      expect(Buffer.from(bytes ?? []).toString()).toBe('text of the file');
    },
  );

  it('[U04] discord: sends polls, cards and forwarded messages through typed commands', async () => {
    const simulator = await started('discord');
    const from = { chat: 'friends', from: 'ann' } as const;
    for (const text of ['!poll Vote :: Tea? | Yes | No', '!forward <the code>', '!sticker wave'])
      await simulator.act({ kind: 'say', ...from, text });
    const messages = chatOf(simulator, 'friends')?.messages ?? [];
    expect(messages.map(({ text }) => text)).toEqual([
      'Vote\n📊 Tea?: Yes | No',
      '↪ <the code>',
      '(sticker wave)',
    ]);
    expect(messages[1]?.html).toContain('&lt;the code&gt;');
  });

  it.each(PLATFORMS)('[U04] %s: adds people and groups during the simulation', async (platform) => {
    const simulator = await started(platform);
    expect(await simulator.act({ kind: 'person', name: 'Ann' })).toBe('ann-2');
    expect(await simulator.act({ kind: 'group', name: 'Book Club', members: ['ann-2'] })).toBe(
      'book-club',
    );
    expect(chatOf(simulator, 'book-club')?.members).toEqual(['you', 'ann-2']);
    const thread = simulator.act({
      kind: 'thread',
      chat: 'book-club',
      from: 'ann-2',
      name: 'Poems',
    });
    if (platform === 'whatsapp') await expect(thread).rejects.toThrow('WhatsApp has no threads.');
    else {
      const key = (await thread) ?? '';
      expect(await simulator.act({ kind: 'say', chat: key, from: 'ann-2', text: 'hm' })).toBe(
        'ann-2:1',
      );
      expect(chatOf(simulator, key)).toMatchObject({
        parent: 'book-club',
        messages: [{ text: 'hm' }],
      });
    }
    await simulator.act({ kind: 'bot', chat: 'book-club', isIn: false });
    expect(chatOf(simulator, 'book-club')?.isBotIn).toBe(false);
    for (const fault of simulator.world().faults) await simulator.act({ kind: 'fault', fault });
    await simulator.act({ kind: 'clear-faults' });
  });

  it('[U04] reports a missing person, chat, message, fault or platform feature', async () => {
    const simulator = await started('telegram');
    const say = { kind: 'say', chat: 'ann', from: 'ann', text: 'hi' } as const;
    await expect(simulator.act({ ...say, from: 'cleo' })).rejects.toThrow('There is no "cleo"');
    await expect(simulator.act({ ...say, chat: 'x' })).rejects.toThrow('There is no chat "x"');
    const message = { chat: 'ann', message: 'bot:1' } as const;
    await expect(simulator.act({ kind: 'edit', ...message, text: 'x' })).rejects.toThrow('"bot:1"');
    await simulator.act(say);
    const gone = simulator.act({ kind: 'delete', chat: 'ann', message: 'ann:1' });
    await expect(gone).rejects.toThrow('Telegram does not notify bots of deletions.');
  });

  it('[U04] lets the player advance the clock', async () => {
    const clock = createPlayClock();
    const simulator = await startSimulator('telegram', { clock });
    closing.push(() => simulator.close());
    await simulator.act({ kind: 'clock', minutes: 90 });
    await simulator.act({ kind: 'say', chat: 'ann', from: 'ann', text: 'late' });
    const at = chatOf(simulator, 'ann')?.messages[0]?.at ?? 0;
    expect(Math.round((at - Date.now()) / 60_000)).toBe(90);
    expect(simulator.world()).toMatchObject({ ahead: 90 * 60_000 });
  });

  it('[U04] Discord: runs the command that a text matches and shows ephemeral answers to one person only', async () => {
    const simulator = await started('discord');
    const intents = [GatewayIntentBits.Guilds, GatewayIntentBits.DirectMessages];
    const api = String(simulator.settings.apiRoot);
    const bot = new Client({ intents, partials: [Partials.Channel], rest: { api } });
    closing.push(() => bot.destroy());
    bot.on(Events.InteractionCreate, async (use) => {
      if (!use.isChatInputCommand()) return;
      const text = `${use.commandName} ${use.options.getString('text')} for <@${use.user.id}>`;
      await use.reply({ content: text, flags: 'Ephemeral' });
    });
    await bot.login(String(simulator.settings.token));
    const options = [{ type: 3, name: 'text', description: 'a text' }];
    await bot.application?.commands.set([{ name: 'note', description: 'notes it', options }]);
    expect(simulator.world().commands).toEqual([{ name: 'note', description: 'notes it' }]);
    await simulator.act({ kind: 'say', chat: 'friends', from: 'bo', text: '/note that here' });
    const message = await simulator.waitFor(({ chats }) =>
      chats.find(({ key }) => key === 'friends')?.messages.find(({ from }) => from === 'bot'),
    );
    expect(message).toMatchObject({ text: 'note that here for @Bo', onlyFor: 'bo', key: 'bot:1' });
    expect(message.html).toContain('<span class="live">@Bo</span>');
  });

  it('[U04] Slack: renders blocks with all text escaped and shows answers in other threads as replies in the channel', async () => {
    const simulator = await started('slack');
    const { options } = z
      .object({ options: z.object({ apiUrl: z.string(), botToken: z.string() }) })
      .parse(simulator.settings);
    const web = new WebClient(options.botToken, { slackApiUrl: options.apiUrl });
    await simulator.act({ kind: 'thread', chat: 'friends', from: 'bo', name: 'Plans' });
    const said = { kind: 'say', chat: 'friends', from: 'ann', text: 'hm?', mention: true } as const;
    await simulator.act(said);
    const channel = simulator.firstGroup;
    const { messages = [] } = await web.conversations.history({ channel });
    const [question, plans] = messages.map(({ ts = '' }) => ts);
    const markdown_text = '# Hi\n\n**a** <b> `c`\n\n1. one\n\n| x |\n|---|\n| y |';
    await web.chat.postMessage({ channel, thread_ts: question ?? '', markdown_text });
    await web.chat.postMessage({ channel, thread_ts: plans ?? '', text: 'in the thread' });
    const friends = chatOf(simulator, 'friends')?.messages;
    expect(friends?.map(({ key, replyTo }) => [key, replyTo])).toEqual([
      ...[
        ['bo:1', undefined],
        ['ann:1', undefined],
        ['bot:1', 'ann:1'],
      ],
    ]);
    expect(friends?.at(-1)?.html).toBe(
      '<div class="heading-1">Hi</div><div><b>a</b> &lt;b&gt; <code>c</code></div>' +
        '<div class="item" dir="auto"><span>1.</span><div>one</div></div>' +
        '<table><tr><td><div>x</div></td></tr><tr><td><div>y</div></td></tr></table>',
    );
    expect(chatOf(simulator, 'friends/plans')?.messages).toMatchObject([{ text: 'in the thread' }]);
    const thanks = {
      kind: 'say',
      chat: 'friends',
      from: 'bo',
      text: 'ok',
      replyTo: 'bot:1',
    } as const;
    await simulator.act(thanks);
    expect(chatOf(simulator, 'friends')?.messages.at(-1)).toMatchObject({ replyTo: 'ann:1' });
  });
});
