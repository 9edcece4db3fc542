import { toLiteralLine, toLiteralMarkdown } from '@parley/core';
import type { CommandInfo } from '../menu.ts';
import { defineChatCommand } from './command.ts';
import { listUsableCommands } from './permission.ts';

export const help = defineChatCommand({
  name: 'help',
  // Telegram opens every chat with a bot by sending /start.
  aliases: ['start'],
  summary: 'what I can do',
  takes: '[message]',
  rest: 'message',
  who: 'everyone',
  groupRight: 'limits',
  prepare: async ({ audience, agent }, { skillCommands }) =>
    (await skillCommands?.(audience, agent)) ?? [],
  async run({ situation, commands, asker }, _transaction, skills) {
    const lines = [
      `I am ${toLiteralLine(situation.agentName)}. Just write to me, or use a command:\n`,
      ...listUsableCommands(commands, asker).map(formatHelpLine),
      ...listSkillHelp(skills),
    ];
    return { answer: lines.join('\n') };
  },
});

function formatHelpLine({ name, summary, takes = '' }: CommandInfo): string {
  return `- /${name}${takes === '' ? '' : ` ${toLiteralMarkdown(takes)}`} – ${summary}`;
}

/**
 * The maximum number of skills in `/help`, and the maximum length of each summary in characters.
 */
const MAX_SKILLS = 30;
const MAX_SUMMARY = 120;

/** The skills part of `/help`, as Markdown lines; empty when no skill is available. */
export function listSkillHelp(commands: readonly CommandInfo[]): readonly string[] {
  if (commands.length === 0) return [];
  const more = commands.length - MAX_SKILLS;
  return [
    '\nSkills:\n',
    ...commands
      .slice(0, MAX_SKILLS)
      .map(({ name, summary }) => `- /${name} – ${shortenSummary(summary)}`),
    ...(more > 0 ? [`- and ${more} more`] : []),
  ];
}

/** The summary is written by the skill's author, so its markup is not trusted. */
function shortenSummary(summary: string): string {
  const characters = [...summary];
  if (characters.length <= MAX_SUMMARY) return toLiteralMarkdown(summary);
  return `${toLiteralMarkdown(characters.slice(0, MAX_SUMMARY).join(''))} …`;
}
