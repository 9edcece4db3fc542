import type { PersonMessage } from './people.ts';
import type { WireMessage } from './wire.ts';

/** The typed commands that send more than text. */
export const PARTS_HELP = `  !poll Tea? | Yes | No                      !embed TITLE | TEXT     from a webhook
  !sticker NAME      an animated sticker     !card TEXT | BUTTON     from a webhook
  !forward TEXT      someone else's message  !invite GAME            to a game
  Text above a poll, a sticker or an embed:  !poll Vote please :: Tea? | Yes | No`;

type SpecialParts = Pick<PersonMessage, 'text' | 'parts' | 'webhook'>;

const HOOK = 'build-hook';

/** Parses a line such as `!poll Tea? | Yes | No`; undefined for other lines. */
export function parsePartsLine(line: string): SpecialParts | undefined {
  const [, name, rest = ''] = /^!(\w+)\s+(.+)$/su.exec(line) ?? [];
  const [above, below] = rest.split(/\s+::\s+/, 2);
  const text = below === undefined ? undefined : above;
  const [first = '', ...others] = (below ?? above ?? '').split('|').map((part) => part.trim());
  const said = { ...(text !== undefined && { text }) };
  switch (name) {
    case 'poll':
      return { ...said, parts: { poll: { question: first, answers: others.slice(0, 10) } } };
    case 'sticker':
      return { ...said, parts: { stickers: [{ name: first, format: 3 }] } };
    case 'forward':
      return { parts: { forward: { text: first } } };
    case 'invite':
      return { parts: { invitation: { game: first } } };
    case 'embed':
      return { webhook: HOOK, ...said, parts: { embeds: [buildEmbed(first, others)] } };
    case 'card':
      return { webhook: HOOK, parts: { components: buildCard(first, others) } };
    default:
      return undefined;
  }
}

function buildEmbed(title: string, [description]: readonly string[]) {
  return { type: 'rich', title, ...(description !== undefined && { description }) };
}

function buildCard(content: string, labels: readonly string[]) {
  const buttons = labels.map((label, at) => ({ type: 2, style: 2, label, custom_id: `b${at}` }));
  const row = buttons.length === 0 ? [] : [{ type: 1, components: buttons }];
  return [{ type: 17, components: [{ type: 10, content }, ...row] }];
}

/** Describes the content of a message other than text, files and components, one line per item. */
export function describeSpecialParts(message: WireMessage): readonly string[] {
  const { poll, sticker_items = [], embeds, message_snapshots = [], activity } = message;
  const answers = poll?.answers.map(({ poll_media }) => poll_media.text).join(' | ');
  return [
    ...(poll === undefined ? [] : [`📊 ${poll.question.text}: ${answers}`]),
    ...embeds.map(({ title, description }) => ['▌', title, description].filter(Boolean).join(' ')),
    ...sticker_items.map(({ name }) => `(sticker ${name})`),
    ...message_snapshots.map((one) => `↪ ${one.message.content}`),
    ...(activity === undefined ? [] : [`🎮 ${message.application?.name ?? 'an invitation'}`]),
  ];
}
