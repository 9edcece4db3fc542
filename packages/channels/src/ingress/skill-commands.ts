import { literal } from '@parley/contracts';
import type { CommandInfo } from '../adapter.ts';

/**
 * The commands of skills that a reader may use now (S08). Ingress does not carry them out: such a
 * message starts a turn, and the turn decides whether its reader may see the skill.
 */
export type SkillCommands = (audience: 'owner' | 'others') => Promise<readonly CommandInfo[]>;

/** Most skills that `/help` lists, and most characters of what it says of one. */
const LISTED = 30;
const SUMMARY = 120;

/** What `/help` says of skills, in Markdown lines; none where there is no skill to call. */
export function skillHelp(commands: readonly CommandInfo[]): readonly string[] {
  if (commands.length === 0) return [];
  const more = commands.length - LISTED;
  return [
    '\nSkills:\n',
    ...commands.slice(0, LISTED).map(({ name, summary }) => `- /${name} – ${shortened(summary)}`),
    ...(more > 0 ? [`- and ${more} more`] : []),
  ];
}

/** Written by the author of a skill, so no markup of ours. */
function shortened(summary: string): string {
  const characters = [...literal(summary)];
  if (characters.length <= SUMMARY) return characters.join('');
  return `${characters.slice(0, SUMMARY).join('').replace(/\\+$/, '')} …`;
}
