import { GatewayIntentBits } from 'discord.js';
import { afterEach, describe, expect, it } from 'vitest';
import { parsePartsLine } from './parts-line.ts';
import { startStage, stopStages } from './testing/discord-client.ts';

const ANN = '200000000000000501';
afterEach(stopStages);

describe('[U04] polls, cards and other message content from the Discord double, as parsed by discord.js', () => {
  it('delivers polls, stickers, cards, invitations and recordings', async () => {
    const { double, hears } = await startStage();
    const say = (more: object) => double.say({ channel: double.channelId, from: ANN, ...more });
    const answers = ['Yes', 'No'];
    say({ text: 'vote', parts: { poll: { question: 'Tea?', answers, votes: [2, 0] } } });
    say({ parts: { stickers: [{ name: 'wave', format: 3 }] } });
    say({ parts: { components: [{ type: 17, components: [{ type: 10, content: 'hi' }] }] } });
    say({ parts: { invitation: { type: 3, game: 'Chess' } } });
    const bytes = new TextEncoder().encode('OggS');
    say({ files: [{ name: 'v.ogg', bytes, type: 'audio/ogg' }], parts: { voiceSeconds: 7 } });
    say({ parts: { type: 6 } });
    const [poll, sticker, card, invitation, voice, pinned] = await hears(6);
    expect(poll?.content).toBe('vote');
    expect(poll?.poll?.question.text).toBe('Tea?');
    expect(poll?.poll?.answers.map(({ text, voteCount }) => [text, voteCount])).toEqual([
      ['Yes', 2],
      ['No', 0],
    ]);
    expect(sticker?.stickers.first()).toMatchObject({ name: 'wave', format: 3 });
    expect(card?.components[0]?.toJSON()).toMatchObject({ components: [{ content: 'hi' }] });
    expect(card?.flags.has('IsComponentsV2')).toBe(true);
    expect(invitation?.activity).toMatchObject({ type: 3 });
    expect(voice?.attachments.first()).toMatchObject({ duration: 7 });
    expect(pinned?.system).toBe(true);
  });

  it('forwards messages as copies without their author', async () => {
    const { double, hears } = await startStage();
    const { channelId: channel } = double;
    const said = double.say({ channel, from: ANN, text: 'the code is 4711' });
    const forward = { channel, message: said.id };
    double.say({ channel: double.dmWith(ANN), parts: { forward } });
    double.say({ channel, from: ANN, parts: { forward: { text: 'from elsewhere' } } });
    const [, passed, other] = await hears(3);
    expect(passed?.content).toBe('');
    expect(passed?.messageSnapshots.first()?.content).toBe('the code is 4711');
    expect(passed?.reference).toMatchObject({ type: 1, messageId: said.id });
    expect(other?.messageSnapshots.first()?.content).toBe('from elsewhere');
  });

  it('hides polls and forwarded copies without the content intent', async () => {
    const { double, hears } = await startStage({}, [
      GatewayIntentBits.Guilds,
      GatewayIntentBits.GuildMessages,
    ]);
    const poll = { question: 'Tea?', answers: ['Yes'] };
    const forward = { text: 'secret' };
    double.say({ channel: double.channelId, from: ANN, parts: { poll, forward } });
    const [heard] = await hears(1);
    expect(heard?.poll).toBeNull();
    expect(heard?.messageSnapshots.size).toBe(0);
  });

  it.each([
    ['!poll Tea? | Yes | No', { parts: { poll: { question: 'Tea?', answers: ['Yes', 'No'] } } }],
    ['!poll Vote :: Tea? | Yes', { text: 'Vote', parts: { poll: { answers: ['Yes'] } } }],
    ['!sticker wave', { parts: { stickers: [{ name: 'wave', format: 3 }] } }],
    ['!forward hello there', { parts: { forward: { text: 'hello there' } } }],
    ['!invite Chess', { parts: { invitation: { game: 'Chess' } } }],
    ['!embed Build | red', { parts: { embeds: [{ title: 'Build', description: 'red' }] } }],
    ['!card Sure? | Yes', { parts: { components: [{ components: [{ content: 'Sure?' }, {}] }] } }],
  ])('parses the typed line %s', (line, saying) => {
    expect(parsePartsLine(line)).toMatchObject(saying);
  });

  it.each(['!reply hi', 'poll', '!poll', 'hi !poll a | b'])(
    'ignores %s, which is not a typed command for message content',
    (line) => {
      expect(parsePartsLine(line)).toBeUndefined();
    },
  );
});
