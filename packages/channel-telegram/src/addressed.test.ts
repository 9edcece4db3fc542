import { describe, expect, it } from 'vitest';
import { resolveAddressing } from './address.ts';
import { parseMessage } from './read-message.ts';
import { WireMessage } from './wire.ts';

const ME = { id: 7, username: 'Parley_Bot' };
const MINE = { message_id: 3, from: { id: 7, is_bot: true, first_name: 'P' } };

function message(fields: object) {
  const chat = { id: -5, type: 'group', title: 'G' };
  const from = { id: 1, first_name: 'Ann' };
  return WireMessage.parse({ message_id: 9, date: 1, chat, from, ...fields });
}

const mention = (offset: number, length: number) => ({ type: 'mention', offset, length });
const command = (length: number, offset = 0) => ({ type: 'bot_command', offset, length });

describe('a message’s addressees', () => {
  it.each<[string, object, boolean]>([
    ['plain talk in a group', { text: 'hi' }, false],
    ['a direct chat', { text: 'hi', chat: { id: 1, type: 'private' } }, true],
    ['a mention', { text: '😀 @parley_bot hi', entities: [mention(3, 11)] }, true],
    ['a mention of another user', { text: '@parley_bot2', entities: [mention(0, 12)] }, false],
    ['the name without a mention entity', { text: 'mail x@parley_bot' }, false],
    [
      'a mention without a username',
      {
        text: 'Bot',
        entities: [
          { type: 'text_mention', offset: 0, length: 3, user: { id: 7, first_name: 'P' } },
        ],
      },
      true,
    ],
    [
      'a mention in a caption',
      { caption: '@parley_bot', caption_entities: [mention(0, 11)] },
      true,
    ],
    ['a reply to the bot', { text: 'yes', reply_to_message: MINE }, true],
    [
      'a reply to another user',
      { text: 'yes', reply_to_message: { message_id: 3, from: { id: 2, first_name: 'B' } } },
      false,
    ],
    [
      'a message in a topic the bot opened',
      { text: 'hi', message_thread_id: 3, is_topic_message: true, reply_to_message: MINE },
      false,
    ],
    [
      'a reply to the bot in a topic',
      { text: 'hi', message_thread_id: 2, is_topic_message: true, reply_to_message: MINE },
      true,
    ],
    ['a command with its name', { text: '/stop@parley_bot', entities: [command(16)] }, true],
    ['a command of ours without a name', { text: '/stop', entities: [command(5)] }, true],
    ['an unknown command', { text: '/dance', entities: [command(6)] }, false],
    ['a command for another bot', { text: '/stop@other', entities: [command(11)] }, false],
    [
      'forwarded words that name the bot',
      { text: '@parley_bot', entities: [mention(0, 11)], forward_origin: { type: 'channel' } },
      false,
    ],
    [
      'a command for another bot, as a reply',
      { text: '/stop@other', entities: [command(11)], reply_to_message: MINE },
      false,
    ],
    [
      'a command in the middle',
      { text: 'try /stop@parley_bot', entities: [command(16, 4)] },
      false,
    ],
  ])('[F06] %s', (_name, fields, addressed) => {
    expect(resolveAddressing(parseMessage(message(fields), ME), ME).addressed).toBe(addressed);
  });

  it('names each mentioned user once', () => {
    const text = '@parley_bot Bob @parley_bot';
    const bob = { type: 'text_mention', offset: 12, length: 3, user: { id: 2, first_name: 'B' } };
    const entities = [mention(0, 11), bob, mention(16, 11)];
    expect(resolveAddressing(parseMessage(message({ text, entities }), ME), ME).mentions).toEqual([
      '7',
      '2',
    ]);
  });

  it('[F09] restores the original name of a command that was renamed for the menu', () => {
    const commands = [{ name: 'my-skill', summary: 's' }];
    const named = { text: '/my_skill@parley_bot now', entities: [command(20)] };
    const short = { text: '/my_skill', entities: [command(9)] };
    const read = (fields: object) =>
      resolveAddressing(parseMessage(message(fields), ME), ME, commands);
    expect(read(named)).toMatchObject({ text: '/my-skill now', addressed: true });
    expect(read(short)).toMatchObject({ text: '/my-skill', addressed: true });
    expect(read({ text: '/other', entities: [command(6)] })).toMatchObject({ text: '/other' });
  });

  it.each([
    ['／new 计划', [], '/new 计划'],
    ['／new@Parley_Bot 计划', [], '/new 计划'],
    ['／new@other_bot 计划', [], '／new@other_bot 计划'],
    ['@parley_bot /new plan', [mention(0, 11), command(4, 12)], '/new plan'],
    ['@parley_bot\n/new plan', [mention(0, 11), command(4, 12)], '/new plan'],
    ['@parley_bot please /new', [mention(0, 11), command(4, 19)], '@parley_bot please /new'],
    ['@somebody /new plan', [mention(0, 9), command(4, 10)], '@somebody /new plan'],
    ['/new. plan', [command(4)], '/new. plan'],
  ])(
    '[F09] passes %j on with its own leading command in the plain form',
    (text, entities, expected) => {
      expect(resolveAddressing(parseMessage(message({ text, entities }), ME), ME).text).toBe(
        expected,
      );
    },
  );

  it('[F09] removes its own name from a command so that the core recognizes it', () => {
    const named = { text: '/stop@Parley_Bot now', entities: [command(16)] };
    const foreign = { text: '/stop@other', entities: [command(11)] };
    expect(resolveAddressing(parseMessage(message(named), ME), ME).text).toBe('/stop now');
    expect(resolveAddressing(parseMessage(message(foreign), ME), ME).text).toBe('/stop@other');
  });
});
