import type { ConversationMode, ModeChange } from '@parley/store';
import { defineChatCommand } from './command.ts';

const MODES: Readonly<Record<ConversationMode, string>> = {
  agent: 'I use all my tools; calls that need an approval wait for it.',
  ask: 'I read and answer, but change nothing.',
  plan: 'I look, write a plan, and ask before I run it.',
};

export const mode = defineChatCommand({
  name: 'mode',
  summary: 'how freely I act: agent, ask or plan',
  takes: '[mode]',
  rest: Object.keys(MODES),
  who: 'everyone',
  groupRight: 'needed-for-words',
  async run({ argument }, transaction) {
    const to = parseMode(argument);
    return { answer: describeModeChange(argument, to, await transaction.changeMode(to)) };
  },
});

function describeModeChange(
  argument: string,
  to: ConversationMode | null,
  { now }: ModeChange,
): string {
  if (to !== null) return `\`${now}\` mode: ${MODES[now]}`;
  const unknown = argument === '' ? [] : ['There is no such mode.'];
  const list = Object.entries(MODES).map(
    ([name, description]) => `- \`/mode ${name}\` – ${description}`,
  );
  return [...unknown, `This conversation is in \`${now}\` mode.\n`, ...list].join('\n');
}

function parseMode(argument: string): ConversationMode | null {
  const word = argument.toLowerCase();
  return word === 'agent' || word === 'ask' || word === 'plan' ? word : null;
}
