import type { PlayerAct, RecordedMessage, SceneLine } from '@parley/simulators';

/**
 * Returns a function that describes each line of a scene as readable text, in playing order. The
 * function remembers the bot's messages, so that an edited message is not printed in full again.
 */
export function createConversationText(): (line: SceneLine) => string {
  const texts = new Map<string, string | undefined>();
  return (line) => {
    if ('act' in line) return formatPlayerAct(line.act);
    const { shown } = line;
    const key = `${shown.chat} ${shown.message}`;
    const isNew = !texts.has(key) || texts.get(key) !== shown.text;
    if (shown.gone !== true) texts.set(key, shown.text);
    return formatRecordedMessage(shown, isNew);
  };
}

function formatRecordedMessage(shown: RecordedMessage, isNew: boolean): string {
  const { chat, message, text, buttons, files, reactions, replyTo, gone } = shown;
  if (gone) return indentInChat(chat, `${message} was deleted`);
  const details = [
    ...listDetails('buttons', buttons),
    ...listDetails('files', files),
    ...listDetails('reactions', reactions),
  ].join('; ');
  if (!isNew) return indentInChat(chat, `${message} now has ${details || 'other details'}`);
  const to = replyTo === undefined ? '' : ` to ${replyTo}`;
  return indentInChat(chat, `bot${to}: ${text ?? ''}${details === '' ? '' : ` (${details})`}`);
}

function listDetails(name: string, list: readonly string[] | undefined): readonly string[] {
  if (list === undefined) return [];
  return [`${name}: ${list.join(', ') || 'none'}`];
}

function formatPlayerAct(act: PlayerAct): string {
  switch (act.kind) {
    case 'say': {
      const file = act.file === undefined ? '' : ` (file: ${act.file.name})`;
      return indentInChat(act.chat, `${act.from}: ${formatMention(act)}${act.text}${file}`);
    }
    case 'flood':
      return indentInChat(
        act.chat,
        `${act.from}, ${act.count} times: ${formatMention(act)}${act.text}`,
      );
    case 'edit':
      return indentInChat(act.chat, `${act.message} is edited: ${act.text}`);
    case 'delete':
      return indentInChat(act.chat, `${act.message} is deleted`);
    case 'react':
      return indentInChat(
        act.chat,
        `${act.from}: *${act.gone ? 'takes back' : 'reacts with'} ${act.emoji} on ${act.message}*`,
      );
    case 'press':
      return indentInChat(act.chat, `${act.from}: *presses "${act.button}" on ${act.message}*`);
    case 'person':
      return `${act.name} joins`;
    case 'group':
      return `New group "${act.name}" with ${act.members.join(', ')}`;
    case 'thread':
      return indentInChat(act.chat, `${act.from}: *opens the thread "${act.name}"*`);
    case 'bot':
      return indentInChat(act.chat, `the bot is ${act.isIn ? 'added' : 'removed or blocked'}`);
    case 'fault':
      return `Fault: ${act.fault}${act.chat === undefined ? '' : ` in ${act.chat}`}`;
    case 'clear-faults':
      return 'No more faults';
    case 'clock':
      return `The clock is set forward by ${act.minutes} minutes`;
  }
}

function formatMention(act: { readonly mention?: boolean | undefined }): string {
  return act.mention ? '@bot ' : '';
}

/** Indents all lines except the first, so that the end of each message is visible. */
function indentInChat(chat: string, text: string): string {
  return `[${chat}] ${text.replaceAll(/\n(?=.)/g, '\n    ')}`;
}
