import { GatewayIntentBits } from 'discord.js';
import { afterEach, describe, expect, it } from 'vitest';
import { endStages, newClient, stage, startDouble } from './discord-client.ts';

const ANN = '200000000000000501';
afterEach(endStages);

describe('[U04] a conversation through real discord.js', () => {
  it('brings what a person says and shows what the bot answers, in order', async () => {
    const { double, hears, channel } = await stage();
    double.say({ channel: double.channelId, from: ANN, text: 'hi' });
    const [message] = await hears(1);
    expect(message).toMatchObject({ content: 'hi', guildId: double.guildId, author: { id: ANN } });
    await message?.reply('**hello** you');
    await channel.send('and more');
    expect(double.conversation(double.channelId)).toMatchObject([
      { from: ANN, visible: 'hi' },
      { from: 'bot', content: '**hello** you', visible: 'hello you', replyTo: message?.id },
      { from: 'bot', visible: 'and more' },
    ]);
    expect(double.sends()).toMatchObject([
      { kind: 'message', route: { guildId: double.guildId, channelId: double.channelId } },
      { visible: 'and more' },
    ]);
  });

  it('brings the first direct message and takes the answer to it', async () => {
    const { double, hears } = await stage();
    const channel = double.dmWith(ANN);
    double.say({ channel, text: 'psst' });
    const [message] = await hears(1);
    expect(message).toMatchObject({ content: 'psst', guildId: null, author: { id: ANN } });
    await message?.reply('yes?');
    expect(double.sends()).toMatchObject([
      { route: { channelId: channel, userId: ANN }, visible: 'yes?' },
    ]);
  });

  it('opens a direct message for a bot that writes first, unless the person takes none', async () => {
    const { double, client } = await stage();
    double.say({ channel: double.channelId, from: ANN, text: 'here I am' });
    const ann = await client.users.fetch(ANN);
    await ann.send('good morning');
    expect(double.conversation(double.dmWith(ANN))).toMatchObject([{ visible: 'good morning' }]);
    double.closeDms(ANN);
    await expect(ann.send('again')).rejects.toMatchObject({ code: 50007, status: 403 });
  });

  it('reports edits and deletions by people', async () => {
    const { double, client, hears } = await stage();
    const { id } = double.say({ channel: double.channelId, from: ANN, text: 'teh' });
    await hears(1);
    const seen: string[] = [];
    client.on('messageUpdate', (_old, { content }) => seen.push(`edit ${content}`));
    client.on('messageDelete', (message) => seen.push(`delete ${message.id}`));
    double.reword(double.channelId, id, 'the');
    double.erase(double.channelId, id);
    await expect.poll(() => seen).toEqual(['edit the', `delete ${id}`]);
  });

  it('reports who else writes: other bots and webhooks', async () => {
    const { double, hears } = await stage();
    double.say({ channel: double.channelId, from: ANN, bot: true, text: 'beep' });
    double.say({ channel: double.channelId, webhook: 'news', text: 'extra' });
    const [bot, webhook] = await hears(2);
    expect(bot).toMatchObject({ author: { bot: true }, webhookId: null });
    expect(webhook).toMatchObject({ author: { username: 'news' } });
    expect(webhook?.webhookId).toBe(webhook?.author.id);
  });
});

describe('[U04] who may log in', () => {
  it('refuses a wrong token before and at the gateway', async () => {
    const double = await startDouble();
    await expect(newClient(double).login('wrong.token.here')).rejects.toThrow('invalid token');
  });

  it('refuses privileged intents that are not switched on', async () => {
    const double = await startDouble({ portalIntents: 0 });
    await expect(newClient(double).login(double.token)).rejects.toThrow('disallowed intents');
  });

  it('hides content from a bot without the intent, except where it is addressed', async () => {
    const { double, hears } = await stage({ portalIntents: 0 }, [
      GatewayIntentBits.Guilds,
      GatewayIntentBits.GuildMessages,
      GatewayIntentBits.DirectMessages,
    ]);
    double.say({ channel: double.channelId, from: ANN, text: 'secret' });
    double.say({ channel: double.channelId, from: ANN, text: `<@${double.me.id}> open` });
    double.say({ channel: double.dmWith(ANN), text: 'private' });
    const heard = await hears(3);
    expect(heard.map(({ content }) => content)).toEqual(['', `<@${double.me.id}> open`, 'private']);
  });

  it('says when no session starts are left', async () => {
    const double = await startDouble({ sessionStarts: 0 });
    await expect(newClient(double).login(double.token)).rejects.toThrow('0 remaining');
  });
});
